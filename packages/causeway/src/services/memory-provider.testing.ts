import { ownerKey, type FrontendSpec } from './frontend-spec.ts';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  Owner,
  ProviderHost,
} from './provider.ts';
import { whenAborted } from '@causeway/base/time/when-aborted';

export interface MemoryProviderOptions {
  readonly name: string;
  /** Every outside call goes through this function, so that a test can delay it, fail it or stop at it. */
  readonly call?: <T>(label: string, effect: () => T) => Promise<T>;
}

interface Held {
  readonly owner: Owner;
  readonly ingress: readonly Ingress[];
}

/**
 * A provider with a map as its infrastructure: the simplest implementation of the contract. The tests of the
 * controller use it, and the contract suite runs against it and against the real providers.
 */
export class MemoryProvider implements LoadBalancerProvider {
  readonly name: string;
  readonly finalizer = 'causeway.dev/memory-cleanup';
  readonly synced = Promise.resolve();
  /** The state of the infrastructure. Like a cloud, it survives the provider. */
  readonly cloud: Map<string, Held>;
  /** While this is set, an address is assigned and not confirmed, for this reason. */
  unconfirmed: string | undefined;
  readonly #call: NonNullable<MemoryProviderOptions['call']>;

  constructor(options: MemoryProviderOptions, cloud = new Map<string, Held>()) {
    this.name = options.name;
    this.cloud = cloud;
    this.#call = options.call ?? ((_label, effect) => Promise.resolve().then(effect));
  }

  match({ exposure, className }: FrontendSpec): Match {
    if (exposure !== 'external') return 'no';
    if (className === undefined) return 'if-default';
    return className === `causeway.dev/${this.name}` ? 'yes' : 'no';
  }

  statusWriter(): 'controller' {
    return 'controller';
  }

  loadBalancerName({ owner }: FrontendSpec): string {
    return ownerKey(owner);
  }

  get(owner: Owner): readonly Ingress[] | undefined {
    return this.cloud.get(owner.uid)?.ingress;
  }

  owners(): Iterable<Owner> {
    return [...this.cloud.values()].map(({ owner }) => owner);
  }

  ownersNamed(key: string): readonly Owner[] {
    return [...this.owners()].filter((owner) => ownerKey(owner) === key);
  }

  ensure({ owner, ports }: FrontendSpec): Promise<EnsureOutcome> {
    const { namespace, name, uid } = owner;
    if (ports.some(({ port }) => port === 13)) {
      return Promise.resolve({
        kind: 'refused',
        reason: 'PortTaken',
        message: 'Port 13 is not served. Choose another one.',
      });
    }
    return this.#call(`create ${name}`, () => {
      const held = this.cloud.get(uid) ?? {
        owner: { namespace, name, uid },
        ingress: [{ ip: this.#freeAddress(), ipMode: 'VIP' as const }],
      };
      this.cloud.set(uid, held);
      const { ingress } = held;
      const message = this.unconfirmed;
      return message === undefined
        ? { kind: 'ready', ingress }
        : { kind: 'pending', message, ingress };
    });
  }

  update(frontend: FrontendSpec): Promise<EnsureOutcome> {
    return this.ensure(frontend);
  }

  ensureDeleted(owner: Owner): Promise<DeleteOutcome> {
    return this.#call(`delete ${owner.name}`, () => {
      this.cloud.delete(owner.uid);
      return { kind: 'gone' };
    });
  }

  run(_host: ProviderHost, signal: AbortSignal): Promise<void> {
    return whenAborted(signal);
  }

  readiness(): undefined {
    return undefined;
  }

  #freeAddress(): string {
    const used = new Set(
      [...this.cloud.values()]
        .flatMap(({ ingress }) => ingress)
        .map((entry) => ('ip' in entry ? entry.ip : '')),
    );
    for (let host = 1; ; host += 1) {
      const address = `192.0.2.${host}`;
      if (!used.has(address)) return address;
    }
  }
}
