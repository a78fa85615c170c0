import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { PodTemplateSpec } from '@causeway/kubernetes/objects/core-objects';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { defineResource, type Resource } from '@causeway/kubernetes/objects/resource';
import { leases, pods } from '@causeway/kubernetes/objects/resources';
import type { Lease } from '@causeway/kubernetes/objects/workload-objects';
import type { Clock } from '@causeway/base/time/clock';
import type { AnnouncerName } from './announcer.ts';

/**
 * Resources that show that an announcer has addresses to announce. Cilium, for example, is installed in many
 * clusters where another program announces.
 */
export const poolKinds: readonly {
  readonly announcer: AnnouncerName;
  readonly resource: Resource;
}[] = [
  {
    announcer: 'metallb',
    resource: kind('metallb.io', 'v1beta1', 'ipaddresspools', 'IPAddressPool', true),
  },
  {
    announcer: 'cilium',
    resource: ciliumPool('v2'),
  },
  {
    announcer: 'cilium',
    resource: ciliumPool('v2alpha1'),
  },
  {
    announcer: 'purelb',
    resource: kind('purelb.io', 'v2', 'servicegroups', 'ServiceGroup', true),
  },
  {
    announcer: 'purelb',
    resource: kind('purelb.io', 'v1', 'servicegroups', 'ServiceGroup', true),
  },
];
/**
 * kube-vip has no resources of its own, but holds leases: one for all Services or, with services election,
 * one for each Service with an address. Before the first address, its DaemonSet or its pods identify it.
 * Kubelets also show static pods.
 */
const kubeVipLease = { namespace: 'kube-system', name: 'plndr-svcs-lock' };
interface DaemonSet extends KubeObject {
  readonly spec?: { readonly template?: PodTemplateSpec };
}
const daemonSets = defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});
const kubeVipServiceLease = /^kubevip-./;
const kubeVipImage = /(?:^|\/)kube-vip(?:-iptables)?(?::|@|$)/;

const freshMs = 60_000;

/** Detects the announcers of a cluster, at most once a minute. */
export class AnnouncerDetector {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  #found: { readonly names: readonly AnnouncerName[]; readonly at: number } | undefined;

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async find(signal: AbortSignal): Promise<readonly AnnouncerName[]> {
    const now = this.#clock.monotonic();
    if (this.#found !== undefined && now - this.#found.at < freshMs) return this.#found.names;
    const names = new Set<AnnouncerName>();
    for (const { announcer, resource } of poolKinds) {
      if (await this.#hasAny(resource, signal)) names.add(announcer);
    }
    if (await this.#hasKubeVip(signal)) names.add('kube-vip');
    // An empty result is not kept: an announcer may be installed at any time.
    if (names.size > 0) this.#found = { names: [...names], at: now };
    return [...names];
  }

  async #hasKubeVip(signal: AbortSignal): Promise<boolean> {
    if ((await this.#client.find(leases, kubeVipLease, { signal })) !== undefined) return true;
    const { namespace } = kubeVipLease;
    return (
      (await this.#some(leases, undefined, isKubeVipServiceLease, signal)) ||
      (await this.#some(daemonSets, namespace, isKubeVipDaemonSet, signal)) ||
      (await this.#some(pods, namespace, servesWithKubeVip, signal))
    );
  }

  /** Whether one of the objects matches. A forbidden resource counts as absent. */
  async #some<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string | undefined,
    is: (object: T) => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      for await (const object of this.#client.list(resource, { namespace, signal })) {
        if (is(object)) return true;
      }
      return false;
    } catch (error) {
      if (isErrorCode(error, 'not-found') || isErrorCode(error, 'forbidden')) return false;
      throw error;
    }
  }

  async #hasAny(resource: Resource, signal: AbortSignal): Promise<boolean> {
    try {
      for await (const page of this.#client.pages(resource, { pageSize: 1, signal })) {
        return page.items.length > 0;
      }
      return false;
    } catch (error) {
      if (isErrorCode(error, 'not-found') || isErrorCode(error, 'forbidden')) return false;
      throw error;
    }
  }
}

function isKubeVipServiceLease({ metadata, spec }: Lease): boolean {
  return kubeVipServiceLease.test(metadata?.name ?? '') && (spec?.holderIdentity ?? '') !== '';
}

function isKubeVipDaemonSet({ spec }: DaemonSet): boolean {
  return spec?.template !== undefined && servesWithKubeVip(spec.template);
}

/** kube-vip may run for the control plane's address alone. */
export function servesWithKubeVip({ spec }: PodTemplateSpec): boolean {
  const containers = spec?.containers ?? [];
  return containers.some(
    ({ image = '', env = [], args = [] }) =>
      kubeVipImage.test(image) &&
      (args.includes('--services') ||
        env.some(({ name, value }) => name === 'svc_enable' && value === 'true')),
  );
}

function ciliumPool(version: string): Resource {
  return kind('cilium.io', version, 'ciliumloadbalancerippools', 'CiliumLoadBalancerIPPool', false);
}

function kind(
  group: string,
  version: string,
  plural: string,
  name: string,
  namespaced: boolean,
): Resource {
  return defineResource({ group, version, plural, kind: name, namespaced });
}
