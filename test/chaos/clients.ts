import fs from 'node:fs/promises';
import path from 'node:path';
import { KubeClient } from '../../src/kube/client.ts';
import { findConnection } from '../../src/kube/connection.ts';
import { HttpTransport } from '../../src/kube/http-transport.ts';
import { Cloud } from '../../src/openstack/cloud.ts';
import { loadCloudConfig } from '../../src/openstack/config/load.ts';
import { Neutron } from '../../src/openstack/neutron/neutron.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { noMetrics } from '../../src/runtime/metrics.ts';
import type { Surroundings } from './surroundings.ts';

/** Clients of who watches, which no fault stands in the way of. */
export interface Clients {
  readonly kube: KubeClient;
  readonly neutron: Neutron;
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
  const config = await loadCloudConfig({
    environment: {},
    cloud: 'demo',
    cloudsFile: await file('direct-clouds.yaml', cloudsYaml),
    workingDirectory: directory,
  });
  const cloud = new Cloud(config, { log: silentLog, metrics: noMetrics });
  return {
    kube,
    neutron: new Neutron(cloud.session()),
    async close() {
      await cloud.close();
      await kube.close();
    },
  };
}
