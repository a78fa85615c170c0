import type { Verdict } from '../../model/expression.ts';
import {
  elementId,
  type BaseHook,
  type Element,
  type Hook,
  type SetDefinition,
} from '../../model/ruleset.ts';
import type { ElementCount } from '../driver.ts';
import {
  chainAttribute,
  dataAttribute,
  elementAttribute,
  elementIntervalEnd,
  elementsAttribute,
  expressionAttribute,
  hookAttribute,
  hookNumbers,
  ruleAttribute,
  setAttribute,
  setFlags,
  verdictAttribute,
  verdictCodes,
  verdictDataType,
} from '@causeway/netlink/constants';
import { dataLength, readFields, typesOfNumber } from './fields.ts';
import {
  Attributes,
  attributeList,
  messageAttributes,
  type Message,
} from '@causeway/netlink/reader';

export interface DecodedChain {
  readonly name: string;
  readonly base?: BaseHook;
}

export function decodeChain(message: Message): DecodedChain & { table: string } {
  const attributes = messageAttributes(message);
  const name = attributes.text(chainAttribute.name) ?? '';
  const table = attributes.text(chainAttribute.table) ?? '';
  const hook = attributes.nest(chainAttribute.hook);
  if (hook === undefined) return { table, name };
  const number = hook.u32(hookAttribute.number);
  const priority = (hook.u32(hookAttribute.priority) ?? 0) | 0;
  const type = attributes.text(chainAttribute.type) === 'nat' ? 'nat' : 'filter';
  const names = Object.keys(hookNumbers) as Hook[];
  const hookName = names.find((candidate) => hookNumbers[candidate] === number) ?? 'input';
  return { table, name, base: { type, hook: hookName, priority } };
}

/** The chain of a rule, and the digest in its comment; empty if it has none. */
export function decodeRule(message: Message): { chain: string; digest: string } {
  const attributes = messageAttributes(message);
  const userdata = attributes.bytes(ruleAttribute.userdata);
  let digest = '';
  if (userdata !== undefined && userdata.length > 2 && userdata[0] === 0) {
    digest = userdata.toString('utf8', 2, 2 + Math.max(0, (userdata[1] ?? 0) - 1));
  }
  return { chain: attributes.text(ruleAttribute.chain) ?? '', digest };
}

/** Undefined for a set of types that we never use: it is not ours. */
export function decodeSet(message: Message): SetDefinition | undefined {
  const attributes = messageAttributes(message);
  const name = attributes.text(setAttribute.name) ?? '';
  const flags = attributes.u32(setAttribute.flags) ?? 0;
  const key = typesOfNumber(attributes.u32(setAttribute.keyType) ?? 0);
  if (key === undefined) return undefined;
  let value: SetDefinition['value'];
  if ((flags & setFlags.map) !== 0) {
    const dataType = attributes.u32(setAttribute.dataType) ?? 0;
    value = dataType === verdictDataType ? 'verdict' : typesOfNumber(dataType);
    if (value === undefined) return undefined;
  }
  return {
    name,
    key,
    ...(value === undefined ? {} : { value }),
    ...((flags & setFlags.interval) === 0 ? {} : { interval: true }),
    ...((flags & setFlags.evaluate) === 0 ? {} : { dynamic: true }),
    ...(attributes.bytes(setAttribute.expression) === undefined ? {} : { counter: true }),
  };
}

interface Entry {
  readonly key: Buffer;
  readonly isEnd: boolean;
  readonly attributes: Attributes;
}

/** All elements of a set, from all messages of its dump. */
export function decodeElements(
  definition: SetDefinition,
  messages: readonly Message[],
): Map<string, Element> {
  const entries = [...readEntries(messages)];
  const elements =
    definition.interval === true ? ranges(definition, entries) : plain(definition, entries);
  return new Map(elements.map((element) => [elementId(element), element]));
}

export function decodeCounters(
  definition: SetDefinition,
  messages: readonly Message[],
): Map<string, ElementCount> {
  const counts = new Map<string, ElementCount>();
  for (const { key, attributes } of readEntries(messages)) {
    const expression =
      attributes.nest(elementAttribute.expression) ??
      firstOf(attributes.list(elementAttribute.expressions));
    const data = expression?.nest(expressionAttribute.data);
    const id = elementId({ key: readFields(key, definition.key) });
    counts.set(id, { bytes: data?.u64(1) ?? 0n, packets: data?.u64(2) ?? 0n });
  }
  return counts;
}

function firstOf(list: readonly Buffer[]): Attributes | undefined {
  const [first] = list;
  return first === undefined ? undefined : new Attributes(first);
}

function* readEntries(messages: readonly Message[]): Iterable<Entry> {
  for (const message of messages) {
    for (const item of messageAttributes(message).list(elementsAttribute.elements)) {
      const attributes = new Attributes(item);
      const key = attributes.nest(elementAttribute.key)?.bytes(dataAttribute.value);
      if (key === undefined) continue;
      const flags = attributes.u32(elementAttribute.flags) ?? 0;
      yield { key, isEnd: (flags & elementIntervalEnd) !== 0, attributes };
    }
  }
}

function plain(definition: SetDefinition, entries: readonly Entry[]): Element[] {
  return entries.map(({ key, attributes }): Element => {
    const fields = readFields(padded(key), definition.key);
    const data = attributes.nest(elementAttribute.data);
    if (definition.value === undefined || data === undefined) return { key: fields };
    return { key: fields, value: decodeValue(definition.value, data) };
  });
}

function decodeValue(types: NonNullable<SetDefinition['value']>, data: Attributes) {
  if (types === 'verdict') return decodeVerdict(data.nest(dataAttribute.verdict));
  return readFields(padded(data.bytes(dataAttribute.value) ?? Buffer.alloc(0)), types);
}

function decodeVerdict(attributes: Attributes | undefined): Verdict {
  const code = (attributes?.u32(verdictAttribute.code) ?? 0) | 0;
  const chain = attributes?.text(verdictAttribute.chain) ?? '';
  if (code === verdictCodes.jump) return { kind: 'jump', chain };
  if (code === verdictCodes.goto) return { kind: 'goto', chain };
  if (code === verdictCodes.return) return { kind: 'return' };
  return { kind: code === verdictCodes.accept ? 'accept' : 'drop' };
}

/** Builds ranges from starts and ends in key order; without an end a range extends to the last key. */
function ranges(definition: SetDefinition, entries: readonly Entry[]): Element[] {
  const sorted = [...entries].sort(
    (a, b) => Buffer.compare(a.key, b.key) || Number(b.isEnd) - Number(a.isEnd),
  );
  const size = dataLength(definition.key);
  const read = (bytes: Buffer) => readFields(padded(bytes), definition.key);
  const found: Element[] = [];
  let start: Buffer | undefined;
  for (const { key, isEnd } of sorted) {
    if (start !== undefined) {
      found.push({ key: read(start), keyEnd: read(before(key)) });
      start = undefined;
    }
    if (!isEnd) start = key;
  }
  if (start !== undefined) {
    found.push({ key: read(start), keyEnd: read(Buffer.alloc(size, 0xff)) });
  }
  return found;
}

function before(key: Buffer): Buffer {
  const bytes = Buffer.from(key);
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    const byte = bytes[index] ?? 0;
    bytes[index] = (byte - 1) & 0xff;
    if (byte !== 0) break;
  }
  return bytes;
}

/** A single field may be shorter than the four-byte steps of readFields. */
function padded(bytes: Buffer): Buffer {
  return bytes.length >= 4 ? bytes : Buffer.concat([bytes, Buffer.alloc(4 - bytes.length)]);
}

/** Offsets of the entries of an elements message, to find the entry that the kernel reports. */
export function entryOffsets(message: Buffer): number[] {
  const offsets: number[] = [];
  const headers = 20;
  for (const [type, value] of attributeList(message.subarray(headers))) {
    if (type !== elementsAttribute.elements) continue;
    for (const [, entry] of attributeList(value)) {
      offsets.push(entry.byteOffset - message.byteOffset - 4);
    }
  }
  return offsets;
}
