import { createHash } from 'node:crypto';
import type { Address } from '@causeway/base/address/address';
import type { Rule, Verdict } from './expression.ts';

/** The types a set's key or a map's value is made of. `slot` is a number in the machine's byte order. */
export type DataType = 'ipv4_addr' | 'ipv6_addr' | 'inet_proto' | 'inet_service' | 'slot';

/** One field of a key or a value: an address, or a number (protocol, port, slot). */
export type Field = Address | number;

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** Where the kernel calls a chain from. A chain without it is reached only by a jump or a goto. */
export interface BaseHook {
  readonly type: 'filter' | 'nat';
  readonly hook: Hook;
  readonly priority: number;
}

/** A base chain's policy is always accept: what is not ours is none of our business. */
export interface Chain {
  readonly name: string;
  readonly base?: BaseHook;
  readonly rules: readonly Rule[];
}

export interface SetDefinition {
  readonly name: string;
  readonly key: readonly DataType[];
  /** What a map maps to; a plain set has none. */
  readonly value?: readonly DataType[] | 'verdict';
  /** The elements are ranges of a single field. */
  readonly interval?: boolean;
  /** The kernel itself adds elements, each with a timeout. They are never part of a ruleset. */
  readonly dynamic?: boolean;
  /** Each element counts what it matches. */
  readonly counter?: boolean;
}

export interface Element {
  readonly key: readonly Field[];
  /** The last value of a range, in an interval set. Inclusive. */
  readonly keyEnd?: readonly Field[];
  readonly value?: readonly Field[] | Verdict;
}

export interface NamedSet {
  readonly definition: SetDefinition;
  /** By `elementId`. */
  readonly elements: ReadonlyMap<string, Element>;
}

/** Which packets a table sees: those of both families, or those of one. */
export type TableFamily = 'inet' | 'ip' | 'ip6';

/** All of one table: the whole state that this process answers for, as data. */
export interface Ruleset {
  readonly table: string;
  readonly chains: ReadonlyMap<string, Chain>;
  readonly sets: ReadonlyMap<string, NamedSet>;
}

/**
 * A table as it was found. Rules are known by their digests, which their comments carry: what was
 * asked for can be compared without translating the kernel's form back.
 */
export interface PresentRuleset {
  readonly table: string;
  /** Names this state of the kernel; a transaction can insist that nothing has happened since. */
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

/** Equal exactly when the rules are. */
export function ruleDigest(rule: Rule): string {
  const known = digests.get(rule);
  if (known !== undefined) return known;
  const text = JSON.stringify(rule);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 20);
  digests.set(rule, digest);
  return digest;
}

/** What makes two elements of a set the same one: their key. */
export function elementId(element: Pick<Element, 'key' | 'keyEnd'>): string {
  const start = element.key.length === 1 ? String(element.key[0]) : element.key.join(' . ');
  return element.keyEnd === undefined ? start : `${start}-${element.keyEnd.join(' . ')}`;
}

/** A value as text, equal exactly when the values are. */
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
