import type { Dice } from './dice.ts';
import { sleeperName } from './sleeper.ts';

export const podNames = ['p1', 'p2'] as const;
export type PodName = (typeof podNames)[number];
export const serviceClasses = ['gateway', 'octavia', 'pool'] as const;
export type ServiceClass = (typeof serviceClasses)[number];

/** Operation of a user, with its subject. */
export type Operation =
  | {
      readonly kind: 'create';
      readonly subject: string;
      readonly serviceClass: ServiceClass;
      readonly port: number;
      readonly targetPort: number;
      readonly pods: readonly PodName[];
    }
  | { readonly kind: 'change port'; readonly subject: string; readonly port: number }
  | { readonly kind: 'scale'; readonly subject: string; readonly pods: readonly PodName[] }
  | { readonly kind: 'delete'; readonly subject: string }
  /** Address of the shared pool, reserved for another cluster. */
  | { readonly kind: 'reserve' | 'free'; readonly subject: string }
  /** Load balancer in another project, for discovery. */
  | { readonly kind: 'add balancer' | 'remove balancer'; readonly subject: string }
  /** Only one Service can be idled. */
  | { readonly kind: 'put to sleep'; readonly subject: string };

/** First of the ports that pods listen on, one for each Service. */
export const firstTargetPort = 9000;
export const targetPorts = 32;
const mostServices = 10;
const mostOthers = 4;

interface ImaginedService {
  readonly name: string;
  readonly targetPort: number;
}

/** Keeps the current state, so that each operation makes sense. Pure except for its dice. */
export class ImaginedUser {
  readonly #dice: Dice;
  readonly #classes: readonly ServiceClass[];
  readonly #services: ImaginedService[] = [];
  readonly #owners: string[] = [];
  readonly #balancers: string[] = [];
  #made = 0;

  /** Without the class octavia there are no load balancers to discover. */
  constructor(dice: Dice, classes: readonly ServiceClass[] = serviceClasses) {
    this.#dice = dice;
    // Most Services are of the gateways, because only those can be connected to.
    this.#classes = classes.flatMap((each) => (each === 'gateway' ? [each, each, each] : [each]));
  }

  next(): Operation {
    const choice = this.#dice.below(14);
    if (choice > 11) return { kind: 'put to sleep', subject: sleeperName };
    if (choice === 0) return this.#come('reserve', 'free', 'owner', this.#owners);
    if (choice === 1 && this.#classes.includes('octavia'))
      return this.#come('add balancer', 'remove balancer', 'balancer', this.#balancers);
    const service = this.#services.length === 0 ? undefined : this.#dice.pick(this.#services);
    if (service === undefined || (choice < 5 && this.#services.length < mostServices))
      return this.create();
    if (choice < 8) return { kind: 'scale', subject: service.name, pods: this.#somePods() };
    if (choice < 10)
      return { kind: 'change port', subject: service.name, port: this.#port(service.targetPort) };
    this.#services.splice(this.#services.indexOf(service), 1);
    return { kind: 'delete', subject: service.name };
  }

  create(): Operation {
    const taken = new Set(this.#services.map(({ targetPort }) => targetPort));
    this.#made += 1;
    let offset = this.#made % targetPorts;
    while (taken.has(firstTargetPort + offset)) offset = (offset + 1) % targetPorts;
    const targetPort = firstTargetPort + offset;
    const subject = `web-${this.#made}`;
    this.#services.push({ name: subject, targetPort });
    return {
      kind: 'create',
      subject,
      serviceClass: this.#dice.pick(this.#classes),
      targetPort,
      port: this.#port(targetPort),
      pods: this.#somePods(),
    };
  }

  /** Adds or removes one of these. */
  #come<Come extends 'reserve' | 'add balancer', Go extends 'free' | 'remove balancer'>(
    come: Come,
    go: Go,
    prefix: string,
    there: string[],
  ): { kind: Come | Go; subject: string } {
    const isFull = there.length >= mostOthers;
    if (there.length > 0 && (isFull || this.#dice.below(2) === 0)) {
      const subject = this.#dice.pick(there);
      there.splice(there.indexOf(subject), 1);
      return { kind: go, subject };
    }
    this.#made += 1;
    const subject = `${prefix}-${this.#made}`;
    there.push(subject);
    return { kind: come, subject };
  }

  /** Some ports are unique; others are wanted by several Services of a shared address. */
  #port(targetPort: number): number {
    return this.#dice.pick([80, 443, targetPort - 1000, targetPort - 2000]);
  }

  #somePods(): readonly PodName[] {
    return this.#dice.pick([podNames, podNames, ['p1'] as const, ['p2'] as const]);
  }
}
