import type { z } from 'zod';
import { agentMetricDefinitions } from '../packages/causeway/src/gateway/agent/metrics-reference.ts';
import { agentSettings } from '../packages/causeway/src/gateway/agent/settings.ts';
import { discoveryMetricDefinitions } from '../packages/causeway/src/discovery/discovery-metrics.ts';
import { discoverySettings } from '../packages/causeway/src/discovery/settings.ts';
import { allocatorMetricDefinitions } from '../packages/causeway/src/ipam/allocator-metrics.ts';
import { idlingMetricDefinitions } from '../packages/causeway/src/idling/metric-definitions.ts';
import { ipamClientSettings, ipamServerSettings } from '../packages/causeway/src/ipam/settings.ts';
import { usageMetricDefinitions } from '../packages/causeway/src/ipam/usage.ts';
import { fleetMetrics } from '../packages/causeway/src/gateway/controller/fleet/fleet-metrics.ts';
import { guardMetric } from '../packages/causeway/src/services/guard-register.ts';
import { healthMetrics } from '../packages/causeway/src/console/overview/health-metrics.ts';
import { orphanMetrics } from '../packages/causeway/src/services/orphan-register.ts';
import { controllerCommandSettings } from '../packages/causeway/src/cli/controller/load-settings.ts';
import { releaseMetricDefinitions } from '../packages/causeway/src/pool/release-watch.ts';
import { poolMetricDefinitions } from '../packages/causeway/src/pool/drift-watch.ts';
import { kubeMetrics } from '../packages/kubernetes/src/client/kube-metrics.ts';
import { processMetrics } from '../packages/base/src/observability/event-loop-delay.ts';
import { openStackMetricDefinitions } from '../packages/openstack/src/metrics.ts';
import { proxyMetricDefinitions } from '../packages/causeway/src/node-proxy/proxy-metrics.ts';
import { proxySettings } from '../packages/causeway/src/node-proxy/settings.ts';
import { egressFirewallMetricDefinitions } from '../packages/causeway/src/node-proxy/egress-firewall/metric-definitions.ts';
import { holderMetricDefinitions } from '../packages/causeway/src/node-proxy/holder/metric-definitions.ts';
import { controllerMetrics } from '../packages/base/src/work/controller-metrics.ts';
import type { MetricDefinition } from '../packages/base/src/observability/metrics.ts';

/** The settings of every command that has some, for the configuration reference. */
export const configSchemas: Readonly<Record<string, z.ZodType>> = {
  controller: controllerCommandSettings,
  agent: agentSettings,
  proxy: proxySettings,
  'ipam serve': ipamServerSettings,
  'ipam (as a client)': ipamClientSettings,
  discover: discoverySettings,
};

/** Every metric of every job, for the metrics reference. */
export const allMetrics: readonly MetricDefinition[] = [
  ...agentMetricDefinitions,
  ...allocatorMetricDefinitions,
  ...controllerMetrics,
  ...Object.values(fleetMetrics),
  ...Object.values(healthMetrics),
  ...Object.values(orphanMetrics),
  guardMetric,
  ...discoveryMetricDefinitions,
  ...egressFirewallMetricDefinitions,
  ...holderMetricDefinitions,
  ...idlingMetricDefinitions,
  ...kubeMetrics,
  ...openStackMetricDefinitions,
  ...poolMetricDefinitions,
  ...releaseMetricDefinitions,
  ...processMetrics,
  ...proxyMetricDefinitions,
  ...usageMetricDefinitions,
];
