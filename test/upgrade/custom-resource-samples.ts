import fs from 'node:fs/promises';
import path from 'node:path';
import type { CustomResourceDefinition } from '../../packages/kubernetes/src/objects/custom-resource-definition.ts';
import { installCustomResources } from '../../packages/kubernetes/src/objects/custom-resources.ts';
import type { KubeObject } from '../../packages/kubernetes/src/objects/object.ts';
import type { Resource } from '../../packages/kubernetes/src/objects/resource.ts';
import {
  customResourceDefinitions,
  namespaces,
} from '../../packages/kubernetes/src/objects/resources.ts';
import { kuryrLoadBalancerDefinition } from '../../packages/causeway/src/octavia/definition.ts';
import {
  klbFinalizer,
  kuryrLoadBalancers,
  statusVersion,
  type KuryrLoadBalancer,
} from '../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import {
  egressNetworkPolicies,
  egressNetworkPolicyDefinition,
  type EgressNetworkPolicy,
} from '../../packages/causeway/src/node-proxy/egress-firewall/egress-network-policy.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { memoryKubeClient } from '../../packages/fake-kubernetes/src/memory-client.testing.ts';
import { plain, type SampleKind } from './sample-kind.ts';

const { signal } = new AbortController();
const definitions = [kuryrLoadBalancerDefinition, egressNetworkPolicyDefinition];
const project = { project_id: 'project' };

/** With every field set. */
const balancer: KuryrLoadBalancer = {
  metadata: { namespace: 'shop', name: 'web', finalizers: [klbFinalizer] },
  spec: {
    ...project,
    type: 'LoadBalancer',
    ip: '10.96.0.7',
    lb_ip: '203.0.113.9',
    subnet_id: 's1',
    security_groups_ids: ['g1'],
    provider: 'amphora',
    timeout_client_data: 50_000,
    timeout_member_data: 50_000,
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http', nodePort: 30_080 }],
    endpointSlices: [
      {
        endpoints: [
          {
            addresses: ['10.1.0.1'],
            conditions: { ready: true },
            targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u' },
          },
        ],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
    options: {
      member_mode: 'NodePort',
      member_subnet_id: 's2',
      node_selector: 'edge=true',
      additional_vips: [{ subnet_id: 's6', ip: '2001:db8::9' }],
      internal: false,
      floating_network_id: 'public',
      floating_subnet: '~^pub',
      keep_floating_ip: true,
      algorithm: 'ROUND_ROBIN',
      allowed_cidrs: ['198.51.100.0/24'],
      connection_limit: 7,
      proxy_protocol: 'PROXYV2',
      timeout_member_connect: 5_000,
      session_affinity: true,
      health_monitor: { delay: 5, timeout: 3, max_retries: 1, max_retries_down: 3 },
    },
  },
  status: {
    version: statusVersion,
    loadbalancer: {
      ...project,
      id: 'b1',
      ip: '10.0.0.9',
      name: 'shop/web',
      port_id: 'p1',
      provider: 'amphora',
      security_groups: ['g1'],
      subnet_id: 's1',
    },
    listeners: [
      {
        ...project,
        id: 'l1',
        loadbalancer_id: 'b1',
        name: 'shop/web:TCP:80',
        port: 80,
        protocol: 'TCP',
        timeout_client_data: 50_000,
      },
    ],
    pools: [
      {
        ...project,
        id: 'o1',
        listener_id: 'l1',
        loadbalancer_id: 'b1',
        name: 'shop/web:TCP:80',
        protocol: 'TCP',
      },
    ],
    members: [
      {
        ...project,
        id: 'm1',
        ip: '10.1.0.1',
        name: 'n1:30080',
        pool_id: 'o1',
        port: 30_080,
        subnet_id: 's2',
      },
    ],
    service_pub_ip_info: { ip_id: 'f1', ip_addr: '203.0.113.9', alloc_method: 'pool' },
  },
};

const policy: EgressNetworkPolicy = {
  metadata: { namespace: 'shop', name: 'default' },
  spec: {
    egress: [
      { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } },
      { type: 'Deny', to: { dnsName: 'example.com' } },
    ],
  },
};

const file = (directory: string) => path.join(directory, 'custom-resources.json');

interface Written {
  readonly definitions: readonly CustomResourceDefinition[];
  readonly balancer: KuryrLoadBalancer;
  readonly policy: EgressNetworkPolicy;
}

/** Objects of Causeway's own kinds, with the definitions under which the API server accepted them. */
export const customResources: SampleKind = {
  name: 'custom-resources',

  write: (directory) =>
    fs.writeFile(
      file(directory),
      `${JSON.stringify({ definitions, balancer, policy } satisfies Written, undefined, 2)}\n`,
    ),

  /** Current definitions replace the old ones: all objects stay, and can be written. */
  async read(directory) {
    const written = JSON.parse(await fs.readFile(file(directory), 'utf8')) as Written;
    const client = memoryKubeClient();
    const install = async (wanted: readonly CustomResourceDefinition[]) => {
      const options = { signal, fieldManager: 'test', force: true };
      // Like kubectl and Helm: Causeway itself leaves sufficient definitions alone.
      for (const each of wanted) await client.apply(customResourceDefinitions, each, options);
      await installCustomResources(client, wanted, { clock: systemClock, ...options });
    };
    await client.create(namespaces, { metadata: { name: 'shop' } }, { signal });
    await install(written.definitions);
    const { status } = written.balancer;
    const where = { namespace: 'shop', name: 'web' };
    await client.create(kuryrLoadBalancers, written.balancer, { signal });
    await client.patchMerge(
      kuryrLoadBalancers,
      where,
      { status },
      { signal, subresource: 'status' },
    );
    await client.create(egressNetworkPolicies, written.policy, { signal });
    await install(definitions);
    const touched = async <T extends KubeObject>(resource: Resource<T>, name: string) => {
      const at = { namespace: 'shop', name };
      const seen = { metadata: { labels: { seen: 'yes' } } };
      await client.patchMerge(resource, at, seen, { signal });
      return client.get(resource, at, { signal });
    };
    const klb = await touched(kuryrLoadBalancers, 'web');
    // A status is validated separately.
    await client.patchMerge(
      kuryrLoadBalancers,
      where,
      { status },
      { signal, subresource: 'status' },
    );
    const egress = await touched(egressNetworkPolicies, 'default');
    return plain({ klb: { spec: klb.spec, status: klb.status }, egress: egress.spec });
  },
};
