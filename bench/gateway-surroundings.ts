// An embedded cluster and cloud in their own process, so that their work does not count as the controller's.
// Prints their addresses as one line of JSON; then reads commands, one per line, and answers each with a line
// of JSON:
// - create PREFIX COUNT: Services of type LoadBalancer, each in its own namespace, on port 80
// - serve PREFIX COUNT: the same, already served as a controller would have left them
// - served PREFIX: how many of them have the condition of being served
// - requests: the requests since the last time, by service, method and kind

import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { parsePort } from '../packages/base/src/address/port.ts';
import { portAnnotations } from '../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { sharingGroupOf } from '../packages/causeway/src/services/load-balancer-spec.ts';
import { cleanupFinalizer } from '../packages/causeway/src/services/plan.ts';
import { formatRecord, recordAnnotation } from '../packages/causeway/src/services/record.ts';
import { readyCondition } from '../packages/causeway/src/services/service-status.ts';
import { startEmbeddedKubernetes } from '../packages/fake-kubernetes/src/start.ts';
import { asObject, type KubeObject } from '../packages/fake-kubernetes/src/object.ts';
import { serviceActor } from '../packages/fake-openstack/src/actor.ts';
import { startEmbeddedOpenStack } from '../packages/fake-openstack/src/cloud.ts';
import { floatingIpResource } from '../packages/fake-openstack/src/neutron/floating-ips.ts';
import { portResource } from '../packages/fake-openstack/src/neutron/ports.ts';
import { addWideSubnet } from './wide-subnet.ts';
import { frontendFromService } from '../packages/causeway/src/services/frontend-from-service.ts';

const { values } = parseArgs({ options: { latency: { type: 'string', default: '0' } } });
const clusterId = 'bench';
const requests = new Map<string, number>();
const count = (what: string) => requests.set(what, (requests.get(what) ?? 0) + 1);

const kubernetes = await startEmbeddedKubernetes({
  fault: ({ method, resource, isWatch }) => {
    const kind = [resource?.plural, resource?.subresource].filter((part) => part !== undefined);
    count(`kubernetes ${isWatch ? 'WATCH' : method} ${kind.join('/')}`);
    return undefined;
  },
});
const openstack = await startEmbeddedOpenStack();
openstack.faults.latencyMs = Number(values.latency);
openstack.onRequest(({ service, method, path, query }) => {
  const kind = path
    .split('/')
    .filter((part) => !/^[0-9a-f]{8}-/.test(part))
    .join('/');
  // A page after the first belongs to the list that is counted already.
  if (!query.includes('marker=')) count(`${service} ${method} ${kind}`);
});

const { neutron } = openstack;
const [external] = neutron.networks.all().filter(({ name }) => name === 'public');
const [subnet] = neutron.subnets.all().filter(({ name }) => name === 'private-v4');
if (external === undefined || subnet === undefined) throw new Error('the cloud has no networks');
const project = subnet.project_id;
const actor = serviceActor(project);
const wide = addWideSubnet(openstack);
const ports = portResource(neutron);
const floatingIps = floatingIpResource(neutron, () => true);

console.log(
  JSON.stringify({
    kubeconfig: kubernetes.kubeconfig,
    authUrl: openstack.authUrl,
    region: openstack.region,
    clusterId,
    subnet: subnet.id,
    network: subnet.network_id,
    floatingNetwork: external.id,
    floatingSubnet: wide.id,
  }),
);

for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', prefix = '', number = '0'] = line.split(' ');
  console.log(JSON.stringify(obey(command, prefix, Number(number))));
}
await Promise.all([kubernetes.stop(), openstack.stop()]);

function obey(command: string, prefix: string, number: number): unknown {
  switch (command) {
    case 'create':
      for (let index = 0; index < number; index += 1) create(`${prefix}-${index}`);
      return number;
    case 'serve':
      for (let index = 0; index < number; index += 1) serve(create(`${prefix}-${index}`));
      return number;
    case 'served':
      return kubernetes.cluster.store
        .list('services')
        .filter((service) => isServed(service, prefix)).length;
    case 'requests': {
      const seen = Object.fromEntries(requests);
      requests.clear();
      return seen;
    }
    default:
      throw new Error(`unknown command: ${command}`);
  }
}

function create(namespace: string): KubeObject {
  const { cluster } = kubernetes;
  cluster.create('namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  return cluster.create('services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], allocateLoadBalancerNodePorts: false },
  });
}

/** A Service as the controller leaves it, with all its objects. */
function serve(service: KubeObject): void {
  const managed = `Managed by Causeway for the cluster ${clusterId}`;
  const port = ports.create(
    {
      network_id: subnet?.network_id,
      name: `causeway-${clusterId}-${service.metadata.uid}`,
      description: managed,
      fixed_ips: [{ subnet_id: subnet?.id }],
      port_security_enabled: false,
    },
    actor,
    project,
  );
  neutron.ports.update(port, {
    tags: ['causeway.dev/managed', `causeway.dev/cluster=${clusterId}`],
  });
  const description = `${managed}, port ${port.id}`;
  const { floating_ip_address: ip } = floatingIps.create(
    { floating_network_id: external?.id, subnet_id: wide.id, port_id: port.id, description },
    actor,
    project,
  );
  const ingress = [{ ip, ipMode: 'VIP' as const }];
  const record = formatRecord({ uid: service.metadata.uid ?? '', provider: 'gateway', ingress });
  const held = [{ protocol: 'TCP' as const, port: parsePort(80) }];
  const place = { held, sharingGroup: sharingGroupOf(frontendFromService(service)) };
  const desired = portAnnotations(new Map([[4, port.id]]), place, false);
  const annotations = {
    // A null marks a key that must be absent.
    ...Object.fromEntries(Object.entries(desired).filter(([, value]) => value !== null)),
    [recordAnnotation]: record,
  };
  const { cluster } = kubernetes;
  const metadata = { ...service.metadata, annotations, finalizers: [cleanupFinalizer] };
  const marked = cluster.update('services', { ...service, metadata });
  const condition = {
    type: readyCondition,
    status: 'True',
    reason: 'Served',
    message: `Served on ${ip}`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const status = { loadBalancer: { ingress }, conditions: [condition] };
  cluster.update('services', { ...marked, status }, { subresource: 'status' });
}

function isServed(service: KubeObject, prefix: string): boolean {
  if (service.metadata.namespace?.startsWith(`${prefix}-`) !== true) return false;
  const { conditions } = asObject(service['status']) as { conditions?: { status: string }[] };
  return conditions?.some(({ status }) => status === 'True') === true;
}
