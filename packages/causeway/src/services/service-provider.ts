import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { frontendFromService } from './frontend-from-service.ts';
import type { FrontendSpec } from './frontend-spec.ts';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  ObjectView,
  Owner,
  ProviderContext,
  ProviderHost,
} from './provider.ts';

/** A provider as the Service controller calls it. */
export type ServiceProvider = LoadBalancerProvider<Service>;

/** Lets the Service controller call a provider of frontends. */
export function providerForServices(provider: LoadBalancerProvider): ServiceProvider {
  return new FrontendAdapter(provider);
}

class FrontendAdapter implements ServiceProvider {
  readonly name: string;
  readonly finalizer: string | undefined;
  readonly #inner: LoadBalancerProvider;

  constructor(inner: LoadBalancerProvider) {
    this.name = inner.name;
    this.finalizer = inner.finalizer;
    this.#inner = inner;
  }

  get synced(): Promise<void> {
    return this.#inner.synced;
  }

  readiness(): string | undefined {
    return this.#inner.readiness();
  }

  match(service: Service): Match {
    return this.#inner.match(frontendFromService(service));
  }

  statusWriter(service: Service): 'controller' | 'announcer' {
    return this.#inner.statusWriter(frontendFromService(service));
  }

  loadBalancerName(service: Service): string {
    return this.#inner.loadBalancerName(frontendFromService(service));
  }

  get(owner: Owner): readonly Ingress[] | undefined {
    return this.#inner.get(owner);
  }

  owners(): Iterable<Owner> {
    return this.#inner.owners();
  }

  ownersNamed(key: string): readonly Owner[] {
    return this.#inner.ownersNamed(key);
  }

  ensure(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    return this.#inner.ensure(frontendFromService(service), context);
  }

  update(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    return this.#inner.update(frontendFromService(service), context);
  }

  ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    return this.#inner.ensureDeleted(owner, context);
  }

  run(host: ProviderHost<Service>, signal: AbortSignal): Promise<void> {
    return this.#inner.run({ ...host, objects: frontendsOf(host.objects) }, signal);
  }
}

/** The Services of the cluster as frontends. Built on each read: a copy of all of them would cost memory. */
function frontendsOf(services: ObjectView<Service>): ObjectView<FrontendSpec> {
  return {
    synced: services.synced,
    get: (key) => {
      const service = services.get(key);
      return service === undefined ? undefined : frontendFromService(service);
    },
    *values() {
      for (const service of services.values()) yield frontendFromService(service);
    },
    onChange: (handler) => services.onChange(handler),
  };
}
