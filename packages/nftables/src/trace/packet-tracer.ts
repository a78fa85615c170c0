import { addressToInteger, familyOf, type Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { NatTarget, Operand, Rule, Statement, Verdict } from '../model/expression.ts';
import { ruleText } from '../drivers/nft-text.ts';
import { evaluate, type Connection, type Packet } from './packet.ts';
import type { Chain, Element, Field, Hook, Ruleset } from '../model/ruleset.ts';

/** A packet to trace. Omitted fields default to those of the first packet of a connection. */
export type Probe = Omit<Packet, 'connection'> & { readonly connection?: Partial<Connection> };

export interface TraceOptions {
  /** Origin of the packet: another machine, or a process on this one. */
  readonly from: 'network' | 'local';
  /** Addresses of this machine: packets to them are delivered here, all others are forwarded. */
  readonly localAddresses: readonly Address[];
  /** Replaces the kernel's random numbers, 0 to just under 1. */
  readonly random?: () => number;
  /** Rulesets that replace the current one during the trace, in order. */
  readonly overtakenBy?: readonly Overtaking[];
}

/** The kernel determines the current ruleset at each hook, and again at each set lookup. */
export interface Overtaking {
  readonly ruleset: Ruleset;
  /** Number of evaluations that see the previous ruleset. */
  readonly afterEvaluations: number;
}

export interface Trace {
  readonly outcome: 'delivered' | 'forwarded' | 'dropped' | 'rejected';
  /** The packet as it leaves, rewritten. */
  readonly packet: Packet;
  /** The source is rewritten to an address that the machine selects. */
  readonly masqueraded: boolean;
  readonly rejectedWith?: 'tcp-reset' | 'port-unreachable';
  /** The machine that an unchanged copy was sent to. */
  readonly sentTo?: Address;
  /** Clients that were added to dynamic sets. */
  readonly remembered: readonly { readonly set: string; readonly key: string }[];
  readonly steps: readonly TraceStep[];
}

/** A rule that matched, in nft syntax. */
export interface TraceStep {
  readonly chain: string;
  readonly rule: string;
}

/** Traces a packet through the ruleset as the kernel does. */
export function tracePacket(ruleset: Ruleset, probe: Probe, options: TraceOptions): Trace {
  return new Tracer(ruleset, probe, options).run();
}

/** All possible outcomes for a packet while one ruleset replaces the other, for every point of the change. */
export function traceDuringChange(
  [first, ...next]: readonly [Ruleset, ...Ruleset[]],
  probe: Probe,
  options: TraceOptions,
): Trace[] {
  const traces: Trace[] = [];
  /** Returns the largest number of evaluations. */
  const walk = (
    overtakenBy: readonly Overtaking[],
    [ruleset, ...rest]: readonly Ruleset[],
  ): number => {
    if (ruleset === undefined) {
      const tracer = new Tracer(first, probe, { ...options, overtakenBy });
      traces.push(tracer.run());
      return tracer.evaluations;
    }
    for (
      let afterEvaluations = overtakenBy.at(-1)?.afterEvaluations ?? 0;
      ;
      afterEvaluations += 1
    ) {
      const evaluations = walk([...overtakenBy, { ruleset, afterEvaluations }], rest);
      if (evaluations <= afterEvaluations) return evaluations;
    }
  };
  walk([], next);
  return traces;
}

type Ending = 'accept' | 'drop' | 'rejected';
const deepestJump = 16;

class Tracer {
  /** How often the current ruleset was determined. */
  evaluations = 0;
  readonly #ruleset: Ruleset;
  /** The ruleset that the packet traverses until the end of the hook. */
  #walked: Ruleset;
  readonly #options: TraceOptions;
  readonly #random: () => number;
  readonly #isNew: boolean;
  #packet: Packet;
  #masqueraded = false;
  #rejectedWith: 'tcp-reset' | 'port-unreachable' | undefined;
  #sentTo: Address | undefined;
  readonly #remembered: { set: string; key: string }[] = [];
  readonly #steps: TraceStep[] = [];

  constructor(ruleset: Ruleset, probe: Probe, options: TraceOptions) {
    this.#ruleset = ruleset;
    this.#walked = ruleset;
    this.#options = options;
    this.#random = options.random ?? (() => 0);
    const port = probe.destinationPort;
    const connection: Connection = {
      state: 'new',
      reply: false,
      destinationRewritten: false,
      originalDestination: probe.destination,
      ...(port === undefined ? {} : { originalDestinationPort: port }),
      ...probe.connection,
    };
    const isFromMachine = options.localAddresses.includes(probe.source);
    this.#packet = { isFromMachine, ...probe, connection };
    this.#isNew = connection.state === 'new';
  }

  run(): Trace {
    const fromNetwork = this.#options.from === 'network';
    for (const hook of fromNetwork ? (['prerouting'] as const) : (['output'] as const)) {
      const ending = this.#hook(hook);
      if (ending !== 'accept') return this.#trace(ending);
    }
    const isLocal = this.#options.localAddresses.includes(this.#packet.destination);
    if (isLocal) return this.#trace(this.#hook('input'), 'delivered');
    const forwarded = fromNetwork ? this.#hook('forward') : 'accept';
    if (forwarded !== 'accept') return this.#trace(forwarded);
    return this.#trace(this.#hook('postrouting'), 'forwarded');
  }

  #trace(ending: Ending, outcome: 'delivered' | 'forwarded' = 'delivered'): Trace {
    const outcomes = { accept: outcome, drop: 'dropped', rejected: 'rejected' } as const;
    return {
      outcome: outcomes[ending],
      packet: this.#packet,
      masqueraded: this.#masqueraded,
      ...(this.#rejectedWith === undefined ? {} : { rejectedWith: this.#rejectedWith }),
      ...(this.#sentTo === undefined ? {} : { sentTo: this.#sentTo }),
      remembered: this.#remembered,
      steps: this.#steps,
    };
  }

  #hook(hook: Hook): Ending {
    for (const chain of this.#chainsAt(hook)) {
      this.#walked = this.#inForce();
      // Chains of type nat see only the first packet of a connection.
      if (chain.base?.type === 'nat' && !this.#isNew) continue;
      const ending = this.#chain(this.#chainNamed(chain.name), 0);
      if (ending === 'drop' || ending === 'rejected') return ending;
    }
    return 'accept';
  }

  #chainsAt(hook: Hook): Chain[] {
    const next = this.#options.overtakenBy ?? [];
    const all = [this.#ruleset, ...next.map(({ ruleset }) => ruleset)];
    const named = new Map(all.flatMap(({ chains }) => [...chains]));
    return [...named.values()]
      .filter((chain) => chain.base?.hook === hook)
      .sort((a, b) => (a.base?.priority ?? 0) - (b.base?.priority ?? 0));
  }

  #inForce(): Ruleset {
    this.evaluations += 1;
    const past = this.#options.overtakenBy?.filter(
      ({ afterEvaluations }) => this.evaluations > afterEvaluations,
    );
    return past?.at(-1)?.ruleset ?? this.#ruleset;
  }

  /** Undefined at the end of the chain or at a return. */
  #chain(chain: Chain, depth: number): Ending | undefined {
    if (depth > deepestJump) throw new RangeError(`chains jump too deep at ${chain.name}`);
    for (const rule of chain.rules) {
      const result = this.#rule(chain, rule);
      if (result === undefined) continue;
      if (typeof result === 'string') return result;
      if (!('chain' in result)) return result.kind === 'return' ? undefined : result.kind;
      const ending = this.#chain(this.#chainNamed(result.chain), depth + 1);
      if (ending !== undefined || result.kind === 'goto') return ending;
    }
    return undefined;
  }

  #rule(chain: Chain, rule: Rule): Verdict | Ending | undefined {
    let matched = false;
    for (const statement of rule.statements) {
      const result = this.#statement(statement);
      if (result === 'no-match') return undefined;
      if (result === 'go-on') {
        matched = true;
        continue;
      }
      this.#steps.push({ chain: chain.name, rule: ruleText(rule) });
      return result;
    }
    if (matched) this.#steps.push({ chain: chain.name, rule: ruleText(rule) });
    return undefined;
  }

  #statement(statement: Statement): Verdict | Ending | 'go-on' | 'no-match' {
    switch (statement.kind) {
      case 'compare': {
        const value = evaluate(statement.operand, this.#packet, this.#random);
        if (value === undefined) return 'no-match';
        const masked = statement.mask === undefined ? value : Number(value) & statement.mask;
        return (masked === statement.value) === statement.equal ? 'go-on' : 'no-match';
      }
      case 'lookup': {
        const key = this.#key(statement.key);
        if (key === undefined) return 'no-match';
        const found = this.#find(statement.set, key) !== undefined;
        return found === statement.present ? 'go-on' : 'no-match';
      }
      case 'input-interface': {
        const { inputInterface: name = '' } = this.#packet;
        const isIt = statement.isPrefix ? name.startsWith(statement.name) : name === statement.name;
        return isIt ? 'go-on' : 'no-match';
      }
      case 'dispatch': {
        const key = this.#key(statement.key);
        const value = key === undefined ? undefined : this.#find(statement.map, key)?.value;
        return value === undefined || !('kind' in value) ? 'no-match' : value;
      }
      case 'dnat':
      case 'snat':
        return this.#rewrite(statement.kind, statement.to);
      case 'redirect':
        return this.#redirect(statement.port);
      case 'masquerade':
        this.#masqueraded = true;
        return 'accept';
      case 'reject':
        this.#rejectedWith = statement.reason;
        return 'rejected';
      case 'remember': {
        const key = this.#key(statement.key);
        if (key === undefined) return 'no-match';
        this.#remembered.push({ set: statement.set, key: key.join(' . ') });
        return 'go-on';
      }
      case 'send-to': {
        const [to] = this.#value(statement.map, statement.key);
        if (to === undefined) return 'no-match';
        this.#sentTo = to as Address;
        return 'go-on';
      }
      case 'set-tcp-flags':
        this.#packet = { ...this.#packet, tcpFlags: statement.flags };
        return 'go-on';
      case 'forget':
      case 'log':
      case 'notrack':
        return 'go-on';
      case 'verdict':
        return statement.verdict;
      default:
        return statement satisfies never;
    }
  }

  #rewrite(kind: 'dnat' | 'snat', target: NatTarget): 'accept' | 'no-match' {
    const to = this.#target(target);
    if (to === undefined) return 'no-match';
    const { connection, destination, destinationPort } = this.#packet;
    // The kernel records no rewriting if nothing changes.
    const isOther = to.address !== destination || to.port !== destinationPort;
    const destinationRewritten = connection.destinationRewritten || isOther;
    this.#packet =
      kind === 'dnat'
        ? {
            ...this.#packet,
            destination: to.address,
            destinationPort: to.port,
            connection: { ...connection, destinationRewritten },
          }
        : { ...this.#packet, source: to.address, sourcePort: to.port };
    return 'accept';
  }

  /** To the machine's first address of the family: the kernel's choice depends on the interface. */
  #redirect(port: Port): 'accept' | 'no-match' {
    const family = familyOf(this.#packet.destination);
    const address = this.#options.localAddresses.find((own) => familyOf(own) === family);
    if (address === undefined) return 'no-match';
    return this.#rewrite('dnat', { kind: 'backend', address, port });
  }

  #target(target: NatTarget): { address: Address; port: number } | undefined {
    switch (target.kind) {
      case 'backend':
        return { address: target.address, port: target.port };
      case 'backend-map': {
        const [address, port] = this.#value(target.map, target.key);
        if (address === undefined || port === undefined) return undefined;
        return { address: address as Address, port: Number(port) };
      }
      case 'split-maps': {
        const [address] = this.#value(target.addressMap, target.addressKey);
        const [port] = this.#value(target.portMap, target.portKey);
        if (address === undefined || port === undefined) return undefined;
        return { address: address as Address, port: Number(port) };
      }
      default:
        return target satisfies never;
    }
  }

  #value(map: string, operands: readonly Operand[]): readonly Field[] {
    const key = this.#key(operands);
    const value = key === undefined ? undefined : this.#find(map, key)?.value;
    return value === undefined || 'kind' in value ? [] : value;
  }

  #key(operands: readonly Operand[]): Field[] | undefined {
    const key: Field[] = [];
    for (const operand of operands) {
      const value = evaluate(operand, this.#packet, this.#random);
      if (value === undefined) return undefined;
      key.push(value);
    }
    return key;
  }

  #find(name: string, key: readonly Field[]): Element | undefined {
    const set = this.#inForce().sets.get(name);
    if (set === undefined) return this.#missing(name, undefined);
    if (set.definition.interval !== true) return set.elements.get(key.join(' . '));
    const [value] = key;
    for (const element of set.elements.values()) {
      if (value !== undefined && isWithin(value, element)) return element;
    }
    return undefined;
  }

  #chainNamed(name: string): Chain {
    return this.#walked.chains.get(name) ?? this.#missing(name, { name, rules: [] });
  }

  /**
   * A new chain has no rules for a packet that traverses the old ruleset, and a removed set has no elements.
   */
  #missing<T>(name: string, instead: T): T {
    if (this.#options.overtakenBy !== undefined) return instead;
    throw new RangeError(`a rule refers to ${name}, which is not there`);
  }
}

function isWithin(value: Field, { key, keyEnd }: Element): boolean {
  const [first] = key;
  const [last] = keyEnd ?? key;
  if (first === undefined || last === undefined) return false;
  if (typeof value === 'number') return value >= Number(first) && value <= Number(last);
  if (familyOf(value) !== familyOf(first as Address)) return false;
  const number = addressToInteger(value);
  return (
    number >= addressToInteger(first as Address) && number <= addressToInteger(last as Address)
  );
}
