import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import { installCustomResources } from '../../packages/kubernetes/src/objects/custom-resources.ts';
import {
  endpoints,
  endpointSlices,
  services,
} from '../../packages/kubernetes/src/objects/resources.ts';
import { kuryrLoadBalancerDefinition } from '../../packages/causeway/src/octavia/definition.ts';
import {
  klbFinalizer,
  kuryrLoadBalancers,
  serviceFinalizer,
  type KlbStatus,
} from '../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { never, newService, newSlice, type OctaviaLab } from './lab.ts';

export interface KuryrOptions {
  readonly name: string;
  readonly type: 'ClusterIP' | 'LoadBalancer';
  readonly subnet: string;
  /** In the form that Kuryr used before it had its own resource. */
  readonly asAnnotations?: boolean;
}

const call = { signal: never };
const podAddress = '10.10.1.1';

/** Creates a Service, its KuryrLoadBalancer and its load balancer exactly as Kuryr leaves them. */
export async function leaveAsKuryr(lab: OctaviaLab, options: KuryrOptions): Promise<void> {
  const { name, type, subnet } = options;
  const { client } = lab;
  await installCustomResources(client, [kuryrLoadBalancerDefinition], {
    clock: systemClock,
    signal: never,
    fieldManager: 'kuryr',
  });
  const plain = newService(name, { type });
  const service = await client.create(services, {
    ...plain,
    metadata: { ...plain.metadata, finalizers: [serviceFinalizer] },
  });
  await client.create(endpointSlices, newSlice(name, [podAddress]));
  await client.create(endpoints, {
    metadata: {
      namespace: 'default',
      name,
      finalizers: ['kuryr.openstack.org/endpoints-finalizer'],
    },
  });
  const status = await provision(lab, options, service.spec?.clusterIP ?? '');
  if (type === 'LoadBalancer') {
    const ingress = [{ ip: status.service_pub_ip_info?.ip_addr }];
    await client.patchMerge(
      services,
      { namespace: 'default', name },
      { status: { loadBalancer: { ingress } } },
      { subresource: 'status' },
    );
  }
  if (options.asAnnotations === true) {
    await annotate(lab, name, status);
    return;
  }
  const reference = { apiVersion: 'v1', kind: 'Service', name, uid: service.metadata?.uid ?? '' };
  await client.create(kuryrLoadBalancers, {
    metadata: {
      namespace: 'default',
      name,
      finalizers: [klbFinalizer],
      ownerReferences: [reference],
    },
    spec: {
      ip: service.spec?.clusterIP ?? '',
      ports: [{ port: 80, protocol: 'TCP', targetPort: '8080' }],
      project_id: status.loadbalancer?.project_id ?? '',
      security_groups_ids: [],
      subnet_id: subnet,
      type,
      provider: 'amphora',
      endpointSlices: [
        {
          endpoints: [
            {
              addresses: [podAddress],
              conditions: { ready: true },
              targetRef: { kind: 'Pod', name: `${name}-pod-0`, namespace: 'default' },
            },
          ],
          ports: [{ port: 8080, protocol: 'TCP' }],
        },
      ],
    },
  });
  await client.patchMerge(
    kuryrLoadBalancers,
    { namespace: 'default', name },
    { status },
    { subresource: 'status' },
  );
}

/** Sends one request after another, like Kuryr. */
async function provision(
  lab: OctaviaLab,
  { name, type, subnet }: KuryrOptions,
  ip: string,
): Promise<KlbStatus> {
  const balancing = await lab.balancing();
  const { waiter } = balancing;
  const full = `default/${name}`;
  const made = await balancing.createLoadBalancer(
    { name: full, vipSubnetId: subnet, vipAddress: parseAddress(ip), provider: 'amphora' },
    call,
  );
  const { id } = made;
  const balancer = await waiter.active(id, call);
  const project_id = balancer.projectId;
  const listener = await balancing.createListener(
    { loadBalancerId: id, name: `${full}:TCP:80`, protocol: 'TCP', port: parsePort(80) },
    call,
  );
  await waiter.active(id, call);
  const pool = await balancing.createPool(
    {
      name: `${full}:TCP:80`,
      protocol: 'TCP',
      algorithm: 'ROUND_ROBIN',
      parent: { listenerId: listener.id },
    },
    call,
  );
  await waiter.active(id, call);
  const member = await balancing.createMember(
    pool.id,
    {
      address: parseAddress(podAddress),
      port: parsePort(8080),
      name: `${full}-pod-0:8080`,
      subnetId: subnet,
    },
    call,
  );
  await waiter.active(id, call);
  const common = { loadbalancer_id: id, project_id };
  return {
    loadbalancer: {
      id,
      ip,
      name: full,
      port_id: balancer.vipPortId ?? '',
      project_id,
      provider: 'amphora',
      security_groups: [],
      subnet_id: subnet,
    },
    listeners: [{ ...common, id: listener.id, name: listener.name, port: 80, protocol: 'TCP' }],
    pools: [{ ...common, id: pool.id, listener_id: listener.id, name: pool.name, protocol: 'TCP' }],
    members: [
      {
        id: member.id,
        ip: podAddress,
        name: member.name,
        pool_id: pool.id,
        port: 8080,
        project_id,
        subnet_id: subnet,
      },
    ],
    ...(type === 'LoadBalancer'
      ? { service_pub_ip_info: await floating(lab, balancer.vipPortId ?? '') }
      : {}),
  };
}

async function floating(lab: OctaviaLab, portId: string) {
  const { id, address } = await lab.neutron.floatingIps.create(
    { description: '', floatingNetworkId: lab.publicNetwork, portId },
    call,
  );
  return { ip_id: id, ip_addr: address, alloc_method: 'pool' } as const;
}

async function annotate(lab: OctaviaLab, name: string, status: KlbStatus): Promise<void> {
  const wrap = (kind: string, data: object) => ({
    'versioned_object.name': kind,
    'versioned_object.namespace': 'kuryr_kubernetes',
    'versioned_object.version': '1.0',
    'versioned_object.data': data,
  });
  const {
    loadbalancer,
    listeners = [],
    pools = [],
    members = [],
    service_pub_ip_info: address,
  } = status;
  const state = wrap('LBaaSState', {
    loadbalancer: wrap('LBaaSLoadBalancer', loadbalancer ?? {}),
    listeners: listeners.map((it) => wrap('LBaaSListener', it)),
    pools: pools.map((it) => wrap('LBaaSPool', it)),
    members: members.map((it) => wrap('LBaaSMember', it)),
    service_pub_ip_info: address === undefined ? null : wrap('LBaaSPubIp', address),
  });
  const { ip, project_id, subnet_id } = loadbalancer ?? {};
  const spec = wrap('LBaaSServiceSpec', {
    ip,
    project_id,
    subnet_id,
    ports: [],
    security_groups_ids: [],
  });
  const at = { namespace: 'default', name };
  const prefix = 'openstack.org/kuryr-lbaas';
  await lab.client.patchMerge(endpoints, at, {
    metadata: { annotations: { [`${prefix}-state`]: JSON.stringify(state) } },
  });
  await lab.client.patchMerge(services, at, {
    metadata: { annotations: { [`${prefix}-spec`]: JSON.stringify(spec) } },
  });
}
