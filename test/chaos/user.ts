import { namespaces } from '../../packages/kubernetes/src/objects/resources.ts';
import { BalancerUser } from './balancer-user.ts';
import type { Chronicle } from './chronicle.ts';
import { Doings } from './doings.ts';
import type { Operation } from './imagined-user.ts';
import { LedgerUser } from './ledger-user.ts';
import { makeOtherNetwork } from './networks.ts';
import type { DesiredService, DesiredServices } from './observation.ts';
import { namespace, ServiceUser } from './service-user.ts';
import type { Sleeper } from './sleeper.ts';
import type { System } from './system.ts';

/** Performs the planned operations like a user of kubectl: rejected operations are retried. */
export class User {
  readonly desiredServices: DesiredServices & {
    services: Map<string, DesiredService>;
    owners: Set<string>;
    balancers: Set<string>;
  } = { services: new Map(), owners: new Set(), balancers: new Set() };
  readonly ledger: LedgerUser;
  readonly #services: ServiceUser;
  readonly #balancers: BalancerUser;
  readonly #sleeper: Sleeper;
  readonly #chronicle: Chronicle;
  readonly #doings = new Doings();
  /** Subjects of operations since the last recovery. */
  readonly #touched = new Set<string>();

  private constructor({ clients, ledger, sleeper }: System, chronicle: Chronicle, subnet: string) {
    this.#chronicle = chronicle;
    this.#sleeper = sleeper;
    this.#services = new ServiceUser(clients.kube);
    this.#balancers = new BalancerUser(clients.otherBalancing, subnet);
    this.ledger = new LedgerUser(ledger.other);
  }

  static async settle(system: System, chronicle: Chronicle): Promise<User> {
    const { kube, otherNeutron } = system.clients;
    await kube.create(namespaces, { metadata: { name: namespace } });
    return new User(system, chronicle, await makeOtherNetwork(otherNeutron));
  }

  isUntouched(service: string): boolean {
    return this.desiredServices.services.has(service) && !this.#touched.has(service);
  }

  /** Everything is in its desired state: from now on it has to stay so. */
  debounce(): void {
    this.#touched.clear();
  }

  do(operation: Operation): void {
    this.#touched.add(operation.subject);
    this.#doings.begin(operation.subject, () => this.#perform(operation));
  }

  undoAll(): void {
    for (const subject of this.desiredServices.services.keys())
      this.do({ kind: 'delete', subject });
    for (const subject of this.desiredServices.owners) this.do({ kind: 'free', subject });
    for (const subject of this.desiredServices.balancers)
      this.do({ kind: 'remove balancer', subject });
  }

  done(): Promise<void> {
    return this.#doings.done();
  }

  async #perform(operation: Operation): Promise<void> {
    const { kind, subject } = operation;
    this.#chronicle.log(`${kind} ${subject} ${describe(operation)}`);
    const { owners, balancers } = this.desiredServices;
    switch (kind) {
      case 'reserve':
        owners.add(subject);
        return this.ledger.reserve(subject);
      case 'free':
        owners.delete(subject);
        return this.ledger.free(subject);
      case 'add balancer':
        balancers.add(subject);
        return this.#balancers.add(subject);
      case 'remove balancer':
        balancers.delete(subject);
        return this.#balancers.remove(subject);
      case 'put to sleep':
        return this.#sleeper.idle();
      case 'create':
      case 'change port':
      case 'scale':
      case 'delete':
        return this.#changeService(operation);
    }
  }

  #changeService(
    operation: Extract<Operation, { kind: 'create' | 'change port' | 'scale' | 'delete' }>,
  ): Promise<void> {
    const { kind, subject } = operation;
    const { services } = this.desiredServices;
    if (kind === 'delete') {
      services.delete(subject);
      return this.#services.delete(subject);
    }
    const desired = desiredAfter(services.get(subject), operation);
    services.set(subject, desired);
    if (kind === 'create') return this.#services.create(subject, desired);
    return kind === 'scale'
      ? this.#services.scale(subject, desired)
      : this.#services.changePort(subject, desired);
  }
}

function desiredAfter(
  before: DesiredService | undefined,
  operation: Extract<Operation, { kind: 'create' | 'change port' | 'scale' }>,
): DesiredService {
  if (operation.kind === 'create') {
    const { serviceClass, port, targetPort, pods } = operation;
    const isDualStack = serviceClass === 'gateway' && targetPort % 3 === 0;
    return { serviceClass, port, targetPort, pods, isDualStack };
  }
  if (before === undefined) throw new Error(`${operation.subject} is not there`);
  return operation.kind === 'scale'
    ? { ...before, pods: operation.pods }
    : { ...before, port: operation.port };
}

function describe(operation: Operation): string {
  switch (operation.kind) {
    case 'create':
      return `${operation.serviceClass} port ${operation.port} ${operation.pods.join(' ')}`;
    case 'change port':
      return `port ${operation.port}`;
    case 'scale':
      return operation.pods.join(' ');
    default:
      return '';
  }
}
