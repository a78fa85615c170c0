import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { quoted } from '@causeway/base/text/text-limit';
import type { FrontendSpec } from '../services/frontend-spec.ts';

/** OCCM's annotations, which its users already have. */
export const occmPrefix = 'loadbalancer.openstack.org/';
export const internalAnnotation = 'service.beta.kubernetes.io/openstack-internal-load-balancer';
/** `true` gives a Service of type ClusterIP a load balancer, `false` prevents one. */
export const octaviaAnnotation = 'causeway.dev/octavia';
export const addressAnnotation = 'causeway.dev/address';
export const keepFloatingIpAnnotation = 'causeway.dev/keep-floating-ip';
/** The project that owns the load balancer. The settings list the allowed projects. */
export const projectAnnotation = 'causeway.dev/project';
/** Security groups of the VIP, beside those of the settings. */
export const securityGroupsAnnotation = 'causeway.dev/security-groups';
export const kuryrClientTimeout = 'openstack.org/kuryr-timeout-client-data';
export const kuryrMemberTimeout = 'openstack.org/kuryr-timeout-member-data';
export const idledAtAnnotation = 'idling.alpha.openshift.io/idled-at';

/** OCCM's classes: named sets of options that Services choose. */
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

/** A request that can't be fulfilled, for the user. The other requests still apply. */
export interface Note {
  readonly reason: EventReason;
  readonly message: string;
}

/** Reads a Service's annotations one by one, and notes unreadable ones. */
export class AnnotationReader {
  readonly notes: Note[] = [];
  readonly #annotations: Readonly<Record<string, string>>;
  /** The options of the class, which apply where the Service has no annotation. */
  readonly #ofClass: Readonly<Record<string, string>>;

  constructor(frontend: FrontendSpec, classes: LoadBalancerClasses = {}) {
    this.#annotations = frontend.annotations;
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

  /** The first of these annotations that is set. A name without a prefix is OCCM's. */
  text(...names: readonly string[]): string | undefined {
    for (const from of [this.#annotations, this.#ofClass]) {
      for (const name of names) {
        const value = from[fullName(name)]?.trim();
        if (value !== undefined && value !== '') return value;
      }
    }
    return undefined;
  }

  /** Texts separated by commas, without duplicates. */
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

  /** A whole number of at least `least`. */
  number(least: number, ...names: readonly string[]): number | undefined {
    return this.#number(least, Number.MAX_SAFE_INTEGER, `${least} up`, names);
  }

  /** A whole number from `least` to `most`. */
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
    const known =
      choices.length === 0 ? 'the allowed values; the settings allow none' : choices.join(', ');
    if (found === undefined) this.#ignore(names, value, `none of ${known}`);
    return found;
  }

  #ignore(names: readonly string[], value: string, why: string): void {
    const name = names.map(fullName).find((full) => this.#annotations[full] !== undefined);
    const message = `The annotation ${name} is ignored: ${quoted(value)} is ${why}.`;
    this.notes.push({ reason: 'AnnotationIgnored', message });
  }
}

function fullName(name: string): string {
  return name.includes('/') ? name : `${occmPrefix}${name}`;
}
