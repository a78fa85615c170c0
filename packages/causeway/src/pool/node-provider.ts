import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { ownerOf } from '../services/frontend-from-service.ts';
import { OwnerIndex } from '../services/owner-index.ts';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  ObjectView,
  Owner,
  ProviderHost,
} from '../services/provider.ts';
import type { ServiceProvider } from '../services/service-provider.ts';
import { matchOf } from './match.ts';
import { readHolding, statusWriterOf } from './holding.ts';
import type { NodeView } from './node-view.ts';
import { putOnNode } from './node-ingress.ts';
import { readPoolServiceSpec } from './service-spec.ts';

export interface NodeProviderOptions {
  readonly nodes: NodeView;
  /** The node for Services that name none; otherwise a control plane node. */
  readonly node: string | undefined;
  /** Load balancer classes to serve beside Causeway's own. */
  readonly classes: readonly string[];
}

const stuckMs = 30_000;

/** The pool provider without a ledger: every Service uses a node's own address, and nothing is reserved. */
export class NodeProvider implements ServiceProvider {
  readonly name = 'pool';
  readonly #options: NodeProviderOptions;
  readonly #served = new OwnerIndex();
  #services: ObjectView<Service> | undefined;

  constructor(options: NodeProviderOptions) {
    this.#options = options;
  }

  get synced(): Promise<void> {
    return this.#options.nodes.synced;
  }

  readiness(): string | undefined {
    return this.#options.nodes.readiness();
  }

  match(service: Service): Match {
    return matchOf(service, this.#options.classes);
  }

  statusWriter(service: Service): 'controller' | 'announcer' {
    return statusWriterOf(service);
  }

  loadBalancerName(service: Service): string {
    return keyOf(service);
  }

  /** Nothing is reserved: the ingress of a Service follows from the nodes. */
  get(): readonly Ingress[] | undefined {
    return undefined;
  }

  owners(): Iterable<Owner> {
    return this.#served.all();
  }

  ownersNamed(key: string): readonly Owner[] {
    return this.#served.named(key);
  }

  async ensure(service: Service): Promise<EnsureOutcome> {
    this.#served.add(ownerOf(service));
    const reading = readPoolServiceSpec(service, undefined);
    if (reading.kind === 'refused') return reading;
    const { announcer, demand } = reading.spec;
    if (announcer !== undefined && announcer !== 'node') {
      const message = `The Service requests the announcer ${announcer}, which needs an address of a pool, and the controller has no ledger (pool.servers).`;
      return { kind: 'refused', reason: 'NoLedger', message };
    }
    return putOnNode(service, demand.families, this.#options.nodes.values(), this.#options.node);
  }

  update(service: Service): Promise<EnsureOutcome> {
    return this.ensure(service);
  }

  async ensureDeleted(owner: Owner): Promise<DeleteOutcome> {
    const service = this.#services?.get(`${owner.namespace}/${owner.name}`);
    const isPresent = service?.metadata?.uid === owner.uid;
    if (isPresent && readHolding(service) !== undefined) {
      const message =
        'The Service holds an address of a pool, and the controller has no ledger (pool.servers) to free the address';
      return { kind: 'pending', message, retryAfterMs: stuckMs };
    }
    this.#served.remove(owner);
    return { kind: 'gone' };
  }

  async run(host: ProviderHost<Service>, signal: AbortSignal): Promise<void> {
    const { nodes } = this.#options;
    this.#services = host.objects;
    const stop = nodes.onChange(() => {
      for (const { namespace, name } of this.#served.all()) host.enqueue(`${namespace}/${name}`);
    });
    try {
      await nodes.run(signal);
    } finally {
      stop();
    }
  }
}
