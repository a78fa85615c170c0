import type { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../../packages/kubernetes/src/objects/network-objects.ts';
import { endpointSlices, services } from '../../packages/kubernetes/src/objects/resources.ts';
import { sharingKeyAnnotation } from '../../packages/causeway/src/services/annotations.ts';
import { servers } from '../kernel/gateway/topology.ts';
import { persist } from './doings.ts';
import type { PodName } from './imagined-user.ts';
import type { DesiredService } from './observation.ts';

export const namespace = 'chaos';
const families = ['IPv4', 'IPv6'] as const;

/** Writes Services and their endpoints according to the desired state. */
export class ServiceUser {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async create(name: string, desired: DesiredService): Promise<void> {
    await persist(() => this.#kube.create(services, serviceOf(name, desired)), 'conflict');
    for (const slice of slicesOf(name, desired)) {
      await persist(() => this.#kube.create(endpointSlices, slice), 'conflict');
    }
  }

  async changePort(name: string, desired: DesiredService): Promise<void> {
    const patch = { spec: { ports: portsOf(desired) } };
    await persist(() => this.#kube.patchMerge(services, { namespace, name }, patch));
  }

  async scale(name: string, desired: DesiredService): Promise<void> {
    for (const { metadata, endpoints } of slicesOf(name, desired)) {
      const at = { namespace, name: metadata?.name ?? '' };
      await persist(() => this.#kube.patchMerge(endpointSlices, at, { endpoints }));
    }
  }

  async delete(name: string): Promise<void> {
    await persist(() => this.#kube.delete(services, { namespace, name }), 'not-found');
    for (const family of families) {
      const at = { namespace, name: sliceName(name, family) };
      await persist(() => this.#kube.delete(endpointSlices, at), 'not-found');
    }
  }
}

function portsOf({ port, targetPort }: DesiredService) {
  return [{ name: 'main', protocol: 'TCP' as const, port, targetPort }];
}

function serviceOf(name: string, desired: DesiredService): Service {
  return {
    metadata: { namespace, name, ...(sharesNothing(desired) ? alone(name) : {}) },
    spec: {
      type: 'LoadBalancer',
      loadBalancerClass: `causeway.dev/${desired.serviceClass}`,
      allocateLoadBalancerNodePorts: false,
      ipFamilyPolicy: desired.isDualStack ? 'RequireDualStack' : 'SingleStack',
      ports: portsOf(desired),
    },
  };
}

/** Some have an address of their own, which waits for all gateways when it is released. */
function sharesNothing({ serviceClass, targetPort }: DesiredService): boolean {
  return serviceClass === 'gateway' && targetPort % 3 !== 0;
}

function alone(name: string) {
  return { annotations: { [sharingKeyAnnotation]: name } };
}

function sliceName(service: string, family: (typeof families)[number]): string {
  return `${service}-${family.toLowerCase()}`;
}

function slicesOf(
  service: string,
  { isDualStack, pods, targetPort }: DesiredService,
): EndpointSlice[] {
  return families.slice(0, isDualStack ? 2 : 1).map((family) => {
    const address = (pod: PodName) => servers[pod][family === 'IPv4' ? 'v4' : 'v6'];
    return {
      metadata: {
        namespace,
        name: sliceName(service, family),
        labels: { 'kubernetes.io/service-name': service },
      },
      addressType: family,
      endpoints: pods.map((pod) => ({ addresses: [address(pod)], conditions: { ready: true } })),
      ports: [{ name: 'main', port: targetPort, protocol: 'TCP' }],
    };
  });
}
