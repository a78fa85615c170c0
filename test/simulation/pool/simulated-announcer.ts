import { isErrorCode } from '../../../packages/base/src/error/causeway-error.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { keyOf } from '../../../packages/kubernetes/src/objects/object.ts';
import { leases, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { sleep, type Clock } from '../../../packages/base/src/time/clock.ts';

const resyncEveryMs = 400;

export type SimulatedKind = 'cilium' | 'kube-vip';

const annotations: Readonly<Record<SimulatedKind, string>> = {
  cilium: 'lbipam.cilium.io/ips',
  'kube-vip': 'kube-vip.io/loadbalancerIPs',
};

/**
 * Behaves like Cilium's L2 announcements or like kube-vip with services election: it announces the requested
 * addresses of a LoadBalancer Service and continues while the annotation is missing. Cilium stops when the
 * Service is no load balancer or is deleted; kube-vip only when a Service is deleted that still is a load
 * balancer. It holds a lease from before it announces until after it has stopped. After a change of the
 * addresses, kube-vip withdraws the previous ones, and announces the next ones with the following change.
 */
export class SimulatedAnnouncer {
  readonly #kind: SimulatedKind;
  /** The known Services, by UID, and whether they were load balancers the last time. */
  readonly #known = new Map<string, boolean>();
  /** Its announcements, by the Service's UID. */
  readonly announcing = new Map<
    string,
    { readonly key: string; readonly addresses: readonly string[] }
  >();
  /** The versions of Services that kube-vip dropped, by UID: it handles them again when they change. */
  readonly #left = new Map<string, string>();
  readonly #client: KubeClient;
  readonly #clock: Clock;

  constructor(kind: SimulatedKind, client: KubeClient, clock: Clock) {
    this.#kind = kind;
    this.#client = client;
    this.#clock = clock;
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#check();
      } catch (error) {
        // After a pause, its requests have timed out.
        const isUsual = (['conflict', 'not-found', 'timeout'] as const).some((code) =>
          isErrorCode(error, code),
        );
        if (!isUsual) throw error;
      }
      await sleep(this.#clock, resyncEveryMs);
    }
  }

  async #check(): Promise<void> {
    const present = new Map<string, Service>();
    for await (const service of this.#client.list(services)) {
      present.set(service.metadata?.uid ?? '', service);
    }
    const isBalanced = (uid: string) => present.get(uid)?.spec?.type === 'LoadBalancer';
    for (const [uid, { key }] of this.announcing) {
      if (isBalanced(uid)) continue;
      const wasDeletedAsOne = !present.has(uid) && this.#known.get(uid) === true;
      if (this.#kind === 'cilium' || wasDeletedAsOne) await this.#stop(uid, key);
    }
    for (const uid of present.keys()) this.#known.set(uid, isBalanced(uid));
    for (const [uid, service] of present) {
      if (isBalanced(uid)) await this.#announce(uid, service);
    }
  }

  async #announce(uid: string, service: Service): Promise<void> {
    const annotated = service.metadata?.annotations?.[annotations[this.#kind]];
    if (annotated === undefined) return;
    const { namespace = '', name = '', resourceVersion = '' } = service.metadata ?? {};
    if (this.#left.get(uid) === resourceVersion) return;
    const key = keyOf(service);
    const before = this.announcing.get(uid)?.addresses.join();
    if (before !== undefined && before !== annotated && this.#kind === 'kube-vip') {
      this.#left.set(uid, resourceVersion);
      await this.#stop(uid, key);
      return;
    }
    const addresses = annotated.split(',');
    if (before !== annotated) {
      this.announcing.delete(uid);
      await this.#hold(key, 'node-1');
      this.announcing.set(uid, { key, addresses });
    }
    const shown = service.status?.loadBalancer?.ingress ?? [];
    if (shown.map(({ ip }) => ip).join() === annotated) return;
    const ingress = addresses.map((ip) => ({ ip, ipMode: 'VIP' as const }));
    await this.#client.patchMerge(
      services,
      { namespace, name },
      { metadata: { resourceVersion }, status: { loadBalancer: { ingress } } },
      { subresource: 'status' },
    );
  }

  async #stop(uid: string, key: string): Promise<void> {
    this.announcing.delete(uid);
    await this.#hold(key, '');
  }

  async #hold(key: string, holderIdentity: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const where =
      this.#kind === 'cilium'
        ? { namespace: 'kube-system', name: `cilium-l2announce-${namespace}-${name}` }
        : { namespace, name: `kubevip-${name}` };
    const lease = { metadata: where, spec: { holderIdentity } };
    await this.#client.apply(leases, lease, { fieldManager: 'announcer', force: true });
  }
}
