import path from 'node:path';
import { stringify } from 'yaml';
import { openForwarder, type Forwarder } from '../tcp-forwarder.ts';
import type { RealOpenStack } from '../openstack.ts';
import { waitFor } from '../wait-for.ts';
import { controlPlaneAddress } from './layout.ts';
import type { RealCluster } from './real-cluster.ts';

const program = path.join(import.meta.dirname, 'programs', 'outer-forwarder.ts');

/** A cloud on this machine's loopback address, reachable from pods at the address of the control plane. */
export interface CloudInReach {
  readonly cloudsYaml: string;
  /** Content of a Secret for discovery. */
  readonly secret: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function bringIntoReach(
  cluster: RealCluster,
  cloud: RealOpenStack,
  account: keyof RealOpenStack['accounts'] = 'demo',
): Promise<CloudInReach> {
  const pairWriter: Forwarder[] = [];
  const reach = async (url: string) => {
    const { port, pathname } = new URL(url);
    const socket = path.join(cluster.files.root, `cloud-${port}.sock`);
    pairWriter.push(
      await openForwarder({ path: socket }, { host: '127.0.0.1', port: Number(port) }),
    );
    const words = [program, controlPlaneAddress, port, socket];
    cluster.controlPlane.start(`cloud-${port}`, process.execPath, words);
    const there = `http://${controlPlaneAddress}:${port}${pathname === '/' ? '' : pathname}`;
    await waitFor(`the cloud at ${there}`, () => cluster.controlPlane.run('curl', '-sS', there));
    return there;
  };
  const auth = await reach(cloud.authUrl);
  const network = await reach(cloud.networkUrl);
  const loadBalancer = await reach(cloud.loadBalancerUrl);
  const { user, password, domain, project } = cloud.accounts[account];
  const entry = {
    region_name: cloud.region,
    auth: {
      auth_url: auth,
      username: user,
      password,
      user_domain_name: domain,
      project_name: project,
      project_domain_name: domain,
    },
    // The catalog has addresses of this machine's loopback only.
    identity_endpoint_override: auth,
    network_endpoint_override: network,
    load_balancer_endpoint_override: loadBalancer,
  };
  return {
    cloudsYaml: stringify({ clouds: { openstack: entry } }),
    secret: {
      keystoneUrl: auth,
      neutronUrl: network,
      octaviaUrl: loadBalancer,
      username: user,
      password,
      userDomain: domain,
      region: cloud.region,
    },
    close: async () => {
      await Promise.all(pairWriter.map((forwarder) => forwarder.close()));
    },
  };
}
