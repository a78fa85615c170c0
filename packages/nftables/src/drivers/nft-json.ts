import { z } from 'zod';
import { parseAddress, tryParseAddress } from '@causeway/base/address/address';
import { lastAddress, prefixOf } from '@causeway/base/address/prefix';
import type { Verdict } from '../model/expression.ts';
import type { ElementCount } from './driver.ts';
import { listingItems } from './nft-listing.ts';
import {
  elementId,
  type BaseHook,
  type DataType,
  type Element,
  type Field,
  type NamedSet,
  type PresentChain,
  type PresentRuleset,
  type SetDefinition,
} from '../model/ruleset.ts';

/** Output of `nft -j -nn -y list table`, limited to the parts that our tables use. */
const value: z.ZodType<JsonValue> = z.lazy(() =>
  z.union([
    z.string(),
    z.number(),
    z.object({ concat: z.array(value) }),
    z.object({ prefix: z.object({ addr: z.string(), len: z.number() }) }),
    z.object({ range: z.tuple([value, value]) }),
    z.object({
      elem: z.object({
        val: value,
        counter: z.object({ packets: z.number(), bytes: z.number() }).optional(),
      }),
    }),
  ]),
);
type JsonValue =
  | string
  | number
  | { concat: JsonValue[] }
  | { prefix: { addr: string; len: number } }
  | { range: [JsonValue, JsonValue] }
  | { elem: { val: JsonValue; counter?: { packets: number; bytes: number } | undefined } };

const verdict = z.union([
  z.object({ goto: z.object({ target: z.string() }) }),
  z.object({ jump: z.object({ target: z.string() }) }),
  z.object({ accept: z.null() }),
  z.object({ drop: z.null() }),
  z.object({ return: z.null() }),
]);

const setSchema = z.object({
  name: z.string(),
  type: z.union([z.string(), z.array(z.string())]),
  map: z.string().optional(),
  flags: z.array(z.string()).optional(),
  stmt: z.array(z.unknown()).optional(),
  elem: z.array(z.union([value, z.tuple([value, z.union([verdict, value])])])).optional(),
});

const chainSchema = z.object({
  name: z.string(),
  type: z.enum(['filter', 'nat']).optional(),
  hook: z.enum(['prerouting', 'input', 'forward', 'output', 'postrouting']).optional(),
  prio: z.number().optional(),
});

export function parseListing(table: string, text: string): PresentRuleset {
  const chains = new Map<string, PresentChain & { rules: string[] }>();
  const sets = new Map<string, NamedSet>();
  for (const item of listingItems(text)) {
    const chain = chainSchema.safeParse(item['chain']);
    const set = setSchema.safeParse(item['set'] ?? item['map']);
    const rule = z
      .object({ chain: z.string(), comment: z.string().optional() })
      .safeParse(item['rule']);
    if (chain.success) {
      const base = baseOf(chain.data);
      chains.set(chain.data.name, base === undefined ? { rules: [] } : { base, rules: [] });
    } else if (set.success) {
      sets.set(set.data.name, toNamedSet(set.data));
    } else if (rule.success) {
      chains.get(rule.data.chain)?.rules.push(rule.data.comment ?? '');
    }
  }
  return { table, chains, sets };
}

export function parseCounters(set: string, text: string): Map<string, ElementCount> {
  const counts = new Map<string, ElementCount>();
  for (const item of listingItems(text)) {
    const parsed = setSchema.safeParse(item['set']);
    if (!parsed.success || parsed.data.name !== set) continue;
    for (const entry of parsed.data.elem ?? []) {
      if (Array.isArray(entry) || typeof entry !== 'object' || !('elem' in entry)) continue;
      const { val, counter } = entry.elem;
      const id = elementId({ key: fieldsOf(val) });
      counts.set(id, {
        packets: BigInt(Math.trunc(counter?.packets ?? 0)),
        bytes: BigInt(Math.trunc(counter?.bytes ?? 0)),
      });
    }
  }
  return counts;
}

/** The elements of one set or map, also of a dynamic one. */
export function parseElements(set: string, text: string): Element[] {
  return listingItems(text).flatMap((item) => {
    const parsed = setSchema.safeParse(item['set'] ?? item['map']);
    if (!parsed.success || parsed.data.name !== set) return [];
    return elementsOf(parsed.data, toNamedSet(parsed.data).definition);
  });
}

function baseOf({ type, hook, prio }: z.infer<typeof chainSchema>): BaseHook | undefined {
  if (type === undefined || hook === undefined || prio === undefined) return undefined;
  return { type, hook, priority: prio };
}

function toNamedSet(set: z.infer<typeof setSchema>): NamedSet {
  const flags = set.flags ?? [];
  const definition: SetDefinition = {
    name: set.name,
    key: [set.type].flat().map(toType),
    ...(set.map === undefined
      ? {}
      : { value: set.map === 'verdict' ? 'verdict' : set.map.split(' . ').map(toType) }),
    ...(flags.includes('interval') ? { interval: true } : {}),
    ...(flags.includes('timeout') || flags.includes('dynamic') ? { dynamic: true } : {}),
    ...(set.stmt === undefined ? {} : { counter: true }),
  };
  const elements = definition.dynamic === true ? [] : elementsOf(set, definition);
  return { definition, elements: new Map(elements.map((each) => [elementId(each), each])) };
}

function elementsOf(set: z.infer<typeof setSchema>, definition: SetDefinition): Element[] {
  return (set.elem ?? []).map((entry) =>
    Array.isArray(entry)
      ? { ...toElement(entry[0], definition), value: toValue(entry[1]) }
      : toElement(entry, definition),
  );
}

/** nft lists the type of a slot as an integer, or as a mark in sets that we made. */
function toType(name: string): DataType {
  return name === 'integer' || name === 'mark' ? 'slot' : (name as DataType);
}

function toElement(entry: JsonValue, definition: SetDefinition): Element {
  if (typeof entry === 'object' && 'elem' in entry) return toElement(entry.elem.val, definition);
  if (definition.interval !== true) return { key: fieldsOf(entry) };
  if (typeof entry === 'object' && 'prefix' in entry) {
    const prefix = prefixOf(parseAddress(entry.prefix.addr), entry.prefix.len);
    return { key: [prefix.address], keyEnd: [lastAddress(prefix)] };
  }
  if (typeof entry === 'object' && 'range' in entry) {
    return { key: fieldsOf(entry.range[0]), keyEnd: fieldsOf(entry.range[1]) };
  }
  return { key: fieldsOf(entry), keyEnd: fieldsOf(entry) };
}

function fieldsOf(entry: JsonValue): Field[] {
  if (typeof entry === 'number') return [entry];
  if (typeof entry === 'string') return [tryParseAddress(entry) ?? Number(entry)];
  if ('concat' in entry) return entry.concat.flatMap(fieldsOf);
  if ('elem' in entry) return fieldsOf(entry.elem.val);
  return [];
}

function toValue(entry: z.infer<typeof verdict> | JsonValue): NonNullable<Element['value']> {
  const parsed = verdict.safeParse(entry);
  return parsed.success ? toVerdict(parsed.data) : fieldsOf(entry as JsonValue);
}

function toVerdict(entry: z.infer<typeof verdict>): Verdict {
  if ('goto' in entry) return { kind: 'goto', chain: entry.goto.target };
  if ('jump' in entry) return { kind: 'jump', chain: entry.jump.target };
  if ('accept' in entry) return { kind: 'accept' };
  return { kind: 'drop' in entry ? 'drop' : 'return' };
}
