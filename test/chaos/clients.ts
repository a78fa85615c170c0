import fs from 'node:fs/promises';
import path from 'node:path';
import { KubeClient } from '../../src/kube/client.ts';
import { findConnection } from '../../src/kube/connection.ts';
import { HttpTransport } from '../../src/kube/http-transport.ts';
import { Cloud } from '../../src/openstack/cloud.ts';
import { loadCloudConfig } from '../../src/openstack/config/load.ts';
import type { LoadBalancing } from '../../src/openstack/load-balancing/contract.ts';
import { openLoadBalancing } from '../../src/openstack/load-balancing/open.ts';
import { Neutron } from '../../src/openstack/neutron/neutron.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { noMetrics } from '../../src/runtime/metrics.ts';
import { discoveredAccount } from './jobs.ts';
import type { Surroundings } from './surroundings.ts';

const { signal } = new AbortController();

/** Clients of who watches, which no fault stands in the way of. */
export interface Clients {
  readonly kube: KubeClient;
  readonly neutron: Neutron;
  readonly balancing: LoadBalancing;
  /** Of the project whose load balancers are discovered. */
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
    return new Cloud(config, { log: silentLog, metrics: noMetrics });
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
