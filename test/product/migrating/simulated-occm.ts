import { setTimeout as delay } from 'node:timers/promises';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../octavia/lab.ts';

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const keepAnnotation = 'loadbalancer.openstack.org/keep-floatingip';
const call = { signal: never };
const nameOf = (service: string) => `kube_service_prod_default_${service}`;

/** Leaves a Service and its load balancer like OpenStack's cloud controller manager. Returns its ID. */
export async function serveAsOccm(lab: OctaviaLab, name: string, port = 80): Promise<string> {
  const plain = newService(name, { ports: [{ port, targetPort: 8080 }] });
  const metadata = { ...plain.metadata, finalizers: [finalizer] };
  await lab.client.create(services, { ...plain, metadata });
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  const balancing = await lab.balancing();
  const { id } = await balancing.createLoadBalancer(
    { name: nameOf(name), vipSubnetId: lab.privateSubnet, provider: 'amphora' },
    call,
  );
  const { vipPortId = '' } = await balancing.waiter.active(id, call);
  await balancing.createListener(
    {
      loadBalancerId: id,
      name: `listener_0_${nameOf(name)}`,
      protocol: 'TCP',
      port: parsePort(port),
    },
    call,
  );
  await balancing.waiter.active(id, call);
  const floatingNetworkId = lab.publicNetwork;
  const desired = {
    description: 'Floating IP for Kubernetes',
    floatingNetworkId,
    portId: vipPortId,
  };
  const { address } = await lab.neutron.floatingIps.create(desired, call);
  const status = { loadBalancer: { ingress: [{ ip: address }] } };
  const at = { namespace: 'default', name };
  await lab.client.patchMerge(services, at, { status }, { subresource: 'status' });
  return id;
}

/** Releases deleted Services like the original, until it is stopped. */
export function runOccm(lab: OctaviaLab): () => Promise<void> {
  const stop = new AbortController();
  const loop = async () => {
    while (!stop.signal.aborted) {
      for await (const service of lab.client.list(services)) {
        const { deletionTimestamp, finalizers = [] } = service.metadata ?? {};
        if (deletionTimestamp !== undefined && finalizers.includes(finalizer)) {
          await letGo(lab, service);
        }
      }
      await delay(50);
    }
  };
  const ended = loop();
  return async () => {
    stop.abort();
    await ended;
  };
}

async function letGo(lab: OctaviaLab, { metadata }: Service): Promise<void> {
  const { name = '', annotations = {}, finalizers = [] } = metadata ?? {};
  const balancing = await lab.balancing();
  const own = (await lab.balancers()).find((balancer) => balancer.name === nameOf(name));
  if (own !== undefined) {
    if (annotations[keepAnnotation] !== 'true') {
      for (const { id, portId } of await lab.floatingIps()) {
        if (portId === own.vipPortId) await lab.neutron.floatingIps.delete(id, call);
      }
    }
    await balancing.deleteLoadBalancer(own.id, { ...call, cascade: true });
  }
  const others = finalizers.filter((each) => each !== finalizer);
  await lab.client.patchMerge(
    services,
    { namespace: 'default', name },
    { metadata: { finalizers: others } },
  );
}
