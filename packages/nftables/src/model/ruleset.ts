import { createHash } from 'node:crypto';
import type { Address } from '@causeway/base/address/address';
import type { Rule, Verdict } from './expression.ts';

/** The types of a set's key or a map's value. `slot` is a number in the machine's byte order. */
export type DataType = 'ipv4_addr' | 'ipv6_addr' | 'inet_proto' | 'inet_service' | 'slot';

/** One field of a key or a value: an address, or a number (protocol, port, slot). */
export type Field = Address | number;

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** The kernel's hook of a chain. A chain without one is reached only by a jump or a goto. */
export interface BaseHook {
  readonly type: 'filter' | 'nat';
  readonly hook: Hook;
  readonly priority: number;
}

/** A base chain's policy is always accept: foreign traffic is not affected. */
export interface Chain {
  readonly name: string;
  readonly base?: BaseHook;
  readonly rules: readonly Rule[];
}

export interface SetDefinition {
  readonly name: string;
  readonly key: readonly DataType[];
  /** Value type of a map; a plain set has none. */
  readonly value?: readonly DataType[] | 'verdict';
  /** The elements are ranges of a single field. */
  readonly interval?: boolean;
  /** The elements have timeouts and are never part of a ruleset. The kernel itself may add some. */
  readonly dynamic?: boolean;
  /** Each element has a counter. */
  readonly counter?: boolean;
}

export interface Element {
  readonly key: readonly Field[];
  /** The last value of a range, in an interval set. Inclusive. */
  readonly keyEnd?: readonly Field[];
  readonly value?: readonly Field[] | Verdict;
  /** The kernel removes the element after this time; only in a dynamic set. */
  readonly timeoutSeconds?: number;
}

export interface NamedSet {
  readonly definition: SetDefinition;
  /** By `elementId`. */
  readonly elements: ReadonlyMap<string, Element>;
}

/** The packets of a table: of both families, or of one. */
export type TableFamily = 'inet' | 'ip' | 'ip6';

/** One complete table: the whole state of this process, as data. */
export interface Ruleset {
  readonly table: string;
  readonly chains: ReadonlyMap<string, Chain>;
  readonly sets: ReadonlyMap<string, NamedSet>;
}

/**
 * A table as read from the kernel. Rules are identified by the digests in their comments, so they can be
 * compared without decoding the kernel's form.
 */
export interface PresentRuleset {
  readonly table: string;
  /** Identifies this state of the kernel; a transaction can require that nothing has changed since. */
  readonly generation?: number;
  readonly chains: ReadonlyMap<string, PresentChain>;
  readonly sets: ReadonlyMap<string, NamedSet>;
}

export interface PresentChain {
  readonly base?: BaseHook;
  /** `ruleDigest` of each rule; empty for a rule that is not ours. */
  readonly rules: readonly string[];
}

const digests = new WeakMap<Rule, string>();

/** Equal exactly if the rules are equal. */
export function ruleDigest(rule: Rule): string {
  const known = digests.get(rule);
  if (known !== undefined) return known;
  const text = JSON.stringify(rule);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 20);
  digests.set(rule, digest);
  return digest;
}

/** Identity of an element in its set: its key. */
export function elementId(element: Pick<Element, 'key' | 'keyEnd'>): string {
  const start = element.key.length === 1 ? String(element.key[0]) : element.key.join(' . ');
  return element.keyEnd === undefined ? start : `${start}-${element.keyEnd.join(' . ')}`;
}

/** A value as text, equal exactly if the values are equal. */
export function valueId(value: Element['value']): string {
  if (value === undefined) return '';
  if (!('kind' in value)) return value.join(' . ');
  return value.kind === 'jump' || value.kind === 'goto'
    ? `${value.kind} ${value.chain}`
    : value.kind;
}

export function emptyRuleset(table: string): Ruleset {
  return { table, chains: new Map(), sets: new Map() };
}
