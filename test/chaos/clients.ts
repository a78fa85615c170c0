import fs from 'node:fs/promises';
import path from 'node:path';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import { Cloud } from '../../packages/openstack/src/cloud.ts';
import { loadCloudConfig } from '../../packages/openstack/src/config/load.ts';
import type { LoadBalancing } from '../../packages/openstack/src/load-balancing/contract.ts';
import { openLoadBalancing } from '../../packages/openstack/src/load-balancing/open.ts';
import { Neutron } from '../../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import { discoveredAccount } from './jobs.ts';
import type { Surroundings } from './surroundings.ts';

const { signal } = new AbortController();

/** Clients of the observer; no fault affects them. */
export interface Clients {
  readonly kube: KubeClient;
  readonly neutron: Neutron;
  readonly balancing: LoadBalancing;
  /** Client of the project that discovery reads. */
  readonly otherNeutron: Neutron;
  readonly otherBalancing: LoadBalancing;
  close(): Promise<void>;
}

export async function openClients(
  { kubeconfig, cloudsYaml }: Surroundings,
  directory: string,
): Promise<Clients> {
  const file = async (name: string, text: string) => {
    const target = path.join(directory, name);
    await fs.writeFile(target, text, { mode: 0o600 });
    return target;
  };
  const connection = await findConnection({
    kubeconfig: await file('direct.kubeconfig', kubeconfig),
    env: {},
    clock: systemClock,
  });
  const kube = new KubeClient({
    transport: new HttpTransport(connection, systemClock),
    clock: systemClock,
  });
  const cloudsFile = await file('direct-clouds.yaml', cloudsYaml);
  const open = async (cloud: string) => {
    const workingDirectory = directory;
    const config = await loadCloudConfig({ environment: {}, cloud, cloudsFile, workingDirectory });
    return new Cloud(config, { log: discardLog, metrics: noMetrics });
  };
  const [cloud, otherCloud] = [await open('demo'), await open(discoveredAccount)];
  const [session, otherSession] = [cloud.session(), otherCloud.session()];
  return {
    kube,
    neutron: new Neutron(session),
    balancing: await openLoadBalancing(session, { signal }),
    otherNeutron: new Neutron(otherSession),
    otherBalancing: await openLoadBalancing(otherSession, { signal }),
    async close() {
      await cloud.close();
      await otherCloud.close();
      await kube.close();
    },
  };
}
