import { isErrorCode } from '../../../src/domain/error.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { Service } from '../../../src/kube/core-objects.ts';
import { keyOf } from '../../../src/kube/object.ts';
import { leases, services } from '../../../src/kube/resources.ts';
import { sleep, type Clock } from '../../../src/runtime/clock.ts';

const annotation = 'kube-vip.io/loadbalancerIPs';
const lookEveryMs = 400;

/**
 * Behaves as kube-vip with services election does: it announces what a Service of type LoadBalancer
 * asks for, goes on while the annotation is gone, and stops when the Service is no load balancer or no
 * more. It holds a lease from before it announces until after it has stopped.
 */
export class SimulatedAnnouncer {
  /** What it announces, by the Service's UID. */
  readonly announcing = new Map<string, { readonly key: string; readonly address: string }>();
  readonly #client: KubeClient;
  readonly #clock: Clock;

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#look();
      } catch (error) {
        if (!isErrorCode(error, 'conflict') && !isErrorCode(error, 'not-found')) throw error;
      }
      await sleep(this.#clock, lookEveryMs);
    }
  }

  async #look(): Promise<void> {
    const present = new Map<string, Service>();
    for await (const service of this.#client.list(services)) {
      if (service.spec?.type === 'LoadBalancer') present.set(service.metadata?.uid ?? '', service);
    }
    for (const [uid, { key }] of this.announcing) {
      if (!present.has(uid)) await this.#stop(uid, key);
    }
    for (const [uid, service] of present) await this.#announce(uid, service);
  }

  async #announce(uid: string, service: Service): Promise<void> {
    const address = service.metadata?.annotations?.[annotation];
    if (address === undefined) return;
    const key = keyOf(service);
    if (this.announcing.get(uid)?.address !== address) {
      this.announcing.delete(uid);
      await this.#hold(key, 'node-1');
      this.announcing.set(uid, { key, address });
    }
    const ingress = [{ ip: address, ipMode: 'VIP' as const }];
    if (service.status?.loadBalancer?.ingress?.[0]?.ip === address) return;
    const { namespace = '', name = '', resourceVersion } = service.metadata ?? {};
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
    const lease = { metadata: { namespace, name: `kubevip-${name}` }, spec: { holderIdentity } };
    await this.#client.apply(leases, lease, { fieldManager: 'kube-vip', force: true });
  }
}
