import type { z } from 'zod';
import { agentMetricDefinitions } from '../src/agent/metric-definitions.ts';
import { agentSettings } from '../src/agent/settings.ts';
import { discoveryMetricDefinitions } from '../src/discovery/discovery-metrics.ts';
import { discoverySettings } from '../src/discovery/settings.ts';
import { allocatorMetricDefinitions } from '../src/ipam/allocator-metrics.ts';
import { idlingMetricDefinitions } from '../src/idling/metric-definitions.ts';
import { ipamClientSettings, ipamServerSettings } from '../src/ipam/settings.ts';
import { usageMetricDefinitions } from '../src/ipam/usage.ts';
import { fleetMetrics } from '../src/loadbalancer/gateway/fleet-metrics.ts';
import { orphanMetrics } from '../src/loadbalancer/orphan-register.ts';
import { controllerCommandSettings } from '../src/cli/controller-settings.ts';
import { departureMetricDefinitions } from '../src/loadbalancer/pool/departure-watch.ts';
import { poolMetricDefinitions } from '../src/loadbalancer/pool/drift-watch.ts';
import { kubeMetrics } from '../src/kube/kube-metrics.ts';
import { processMetrics } from '../src/observe/event-loop.ts';
import { openStackMetricDefinitions } from '../src/openstack/metrics.ts';
import { proxyMetricDefinitions } from '../src/proxy/proxy-metrics.ts';
import { proxySettings } from '../src/proxy/settings.ts';
import { egressFirewallMetricDefinitions } from '../src/proxy/egress-firewall/metric-definitions.ts';
import { holderMetricDefinitions } from '../src/proxy/holder/metric-definitions.ts';
import { controllerMetrics } from '../src/runtime/controller-metrics.ts';
import type { MetricDefinition } from '../src/runtime/metrics.ts';

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
  ...Object.values(orphanMetrics),
  ...discoveryMetricDefinitions,
  ...egressFirewallMetricDefinitions,
  ...holderMetricDefinitions,
  ...idlingMetricDefinitions,
  ...kubeMetrics,
  ...openStackMetricDefinitions,
  ...poolMetricDefinitions,
  ...departureMetricDefinitions,
  ...processMetrics,
  ...proxyMetricDefinitions,
  ...usageMetricDefinitions,
];
