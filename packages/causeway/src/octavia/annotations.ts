import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { quoted } from '@causeway/base/text/text-limit';
import type { Service } from '@causeway/kubernetes/objects/core-objects';

/** OCCM's annotations; what its users write today. */
export const occmPrefix = 'loadbalancer.openstack.org/';
export const internalAnnotation = 'service.beta.kubernetes.io/openstack-internal-load-balancer';
/** `true` gives a Service of type ClusterIP a load balancer, `false` keeps one from it. */
export const octaviaAnnotation = 'causeway.dev/octavia';
export const addressAnnotation = 'causeway.dev/address';
export const keepFloatingIpAnnotation = 'causeway.dev/keep-floating-ip';
/** The project that owns its load balancer, of those that the settings let Services choose. */
export const projectAnnotation = 'causeway.dev/project';
/** Security groups of its VIP, beside those of the settings. */
export const securityGroupsAnnotation = 'causeway.dev/security-groups';
export const kuryrClientTimeout = 'openstack.org/kuryr-timeout-client-data';
export const kuryrMemberTimeout = 'openstack.org/kuryr-timeout-member-data';
export const idledAtAnnotation = 'idling.alpha.openshift.io/idled-at';

/** OCCM's classes: what is chosen together, by a name that Services give. */
export interface LoadBalancerClass {
  readonly floatingNetwork?: string | undefined;
  readonly floatingSubnet?: string | undefined;
  readonly network?: string | undefined;
  readonly subnet?: string | undefined;
  readonly memberSubnet?: string | undefined;
}

type LoadBalancerClasses = Readonly<Record<string, LoadBalancerClass>>;

const classAnnotations: Readonly<Record<keyof LoadBalancerClass, string>> = {
  floatingNetwork: 'floating-network-id',
  floatingSubnet: 'floating-subnet-id',
  network: 'network-id',
  subnet: 'subnet-id',
  memberSubnet: 'member-subnet-id',
};

/** What was said and can't be done, for the user; the rest of what was said still holds. */
export interface Note {
  readonly reason: EventReason;
  readonly message: string;
}

/** Reads a Service's annotations one by one, and notes what can't be read. */
export class AnnotationReader {
  readonly notes: Note[] = [];
  readonly #annotations: Readonly<Record<string, string>>;
  /** What its class says where the Service itself says nothing. */
  readonly #ofClass: Readonly<Record<string, string>>;

  constructor(service: Service, classes: LoadBalancerClasses = {}) {
    this.#annotations = service.metadata?.annotations ?? {};
    this.#ofClass = {};
    const name = this.choice(Object.keys(classes), 'class');
    const chosen = name === undefined ? {} : (classes[name] ?? {});
    this.#ofClass = Object.fromEntries(
      Object.entries(classAnnotations).flatMap(([setting, annotation]) => {
        const value = chosen[setting as keyof LoadBalancerClass];
        return value === undefined ? [] : [[fullName(annotation), value]];
      }),
    );
  }

  /** The first of these that is set. A name without a prefix is OCCM's. */
  text(...names: readonly string[]): string | undefined {
    for (const from of [this.#annotations, this.#ofClass]) {
      for (const name of names) {
        const value = from[fullName(name)]?.trim();
        if (value !== undefined && value !== '') return value;
      }
    }
    return undefined;
  }

  /** Texts with commas between them; each once. */
  list(name: string): readonly string[] {
    const parts = (this.text(name) ?? '').split(',').map((part) => part.trim());
    return [...new Set(parts.filter((part) => part !== ''))];
  }

  flag(...names: readonly string[]): boolean | undefined {
    const value = this.text(...names);
    if (value === undefined) return undefined;
    if (value === 'true' || value === 'false') return value === 'true';
    this.#ignore(names, value, 'neither true nor false');
    return undefined;
  }

  /** A whole number that is not below the least. */
  number(least: number, ...names: readonly string[]): number | undefined {
    return this.#number(least, Number.MAX_SAFE_INTEGER, `${least} up`, names);
  }

  /** A whole number from the least to the most. */
  numberWithin(least: number, most: number, ...names: readonly string[]): number | undefined {
    return this.#number(least, most, `${least} to ${most}`, names);
  }

  #number(
    least: number,
    most: number,
    range: string,
    names: readonly string[],
  ): number | undefined {
    const value = this.text(...names);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (/^-?\d+$/.test(value) && number >= least && number <= most) return number;
    this.#ignore(names, value, `not a whole number from ${range}`);
    return undefined;
  }

  choice<Choice extends string>(
    choices: readonly Choice[],
    ...names: readonly string[]
  ): Choice | undefined {
    const value = this.text(...names);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    const known = choices.length === 0 ? 'what can be chosen; nothing can' : choices.join(', ');
    if (found === undefined) this.#ignore(names, value, `none of ${known}`);
    return found;
  }

  #ignore(names: readonly string[], value: string, why: string): void {
    const name = names.map(fullName).find((full) => this.#annotations[full] !== undefined);
    const message = `The annotation ${name} is left out: ${quoted(value)} is ${why}.`;
    this.notes.push({ reason: 'AnnotationIgnored', message });
  }
}

function fullName(name: string): string {
  return name.includes('/') ? name : `${occmPrefix}${name}`;
}
