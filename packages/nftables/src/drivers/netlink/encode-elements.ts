import type { DataType, Element, Field, SetDefinition } from '../../model/ruleset.ts';
import type { ElementsOperation } from '../../model/transaction.ts';
import {
  dataAttribute,
  elementAttribute,
  elementIntervalEnd,
  elementsAttribute,
  listElement,
  messages,
  netlinkCreate,
  netlinkExclusive,
} from '@causeway/netlink/constants';
import type { BatchEncoder } from './encode-operation.ts';
import { writeVerdict } from './encode-rule.ts';
import { dataLength, writeFields } from './fields.ts';
import type { MessageWriter } from '@causeway/netlink/writer';

/** An attribute's length has 16 bits; a list of elements ends well before that. */
const fullMessage = 48 * 1024;

/** Writes messages of elements up to this number; returns the next index. */
export function writeElements(
  batch: BatchEncoder,
  operation: ElementsOperation,
  from: number,
  atMost: number,
): number {
  const adds = operation.op === 'add-elements';
  const type = adds ? messages.newElements : messages.deleteElements;
  const flags = adds ? netlinkCreate | netlinkExclusive : 0;
  const { elements, set } = operation;
  const { writer } = batch;
  const until = Math.min(elements.length, from + atMost);
  let next = from;
  while (next < until) {
    batch.startMessage(type, flags, { operation, firstElement: next });
    writer.text(elementsAttribute.table, batch.table);
    writer.text(elementsAttribute.set, set.name);
    const list = writer.begin(elementsAttribute.elements);
    while (next < until && writer.messageLength < fullMessage) {
      const element = elements[next];
      if (element !== undefined) writeElement(writer, set, element, adds);
      next += 1;
    }
    writer.end(list);
    writer.endMessage();
  }
  return next;
}

/** Writes one element; a range is two entries of the kernel's list, its start and its successor. */
export function writeElement(
  writer: MessageWriter,
  set: SetDefinition,
  element: Element,
  withValue: boolean,
): void {
  const entry = writer.begin(listElement);
  writeKey(writer, set.key, element.key);
  if (withValue && element.value !== undefined) writeValue(writer, set, element.value);
  if (withValue && element.timeoutSeconds !== undefined) {
    writer.u64(elementAttribute.timeout, BigInt(element.timeoutSeconds) * 1000n);
  }
  writer.end(entry);
  if (element.keyEnd === undefined) return;
  const after = afterRange(set.key, element.keyEnd);
  if (after === undefined) return;
  const end = writer.begin(listElement);
  writer.nest(elementAttribute.key, () => writer.bytesAttribute(dataAttribute.value, after));
  writer.u32(elementAttribute.flags, elementIntervalEnd);
  writer.end(end);
}

function writeKey(
  writer: MessageWriter,
  types: readonly DataType[],
  fields: readonly Field[],
): void {
  const key = writer.begin(elementAttribute.key);
  writeFieldsAttribute(writer, types, fields);
  writer.end(key);
}

function writeValue(
  writer: MessageWriter,
  set: SetDefinition,
  value: NonNullable<Element['value']>,
): void {
  const data = writer.begin(elementAttribute.data);
  if ('kind' in value) writeVerdict(writer, value);
  else if (Array.isArray(set.value)) writeFieldsAttribute(writer, set.value as DataType[], value);
  writer.end(data);
}

function writeFieldsAttribute(
  writer: MessageWriter,
  types: readonly DataType[],
  fields: readonly Field[],
): void {
  const size = dataLength(types);
  writer.raw(dataAttribute.value, size, (buffer, at) => {
    buffer.fill(0, at, at + size);
    writeFields(buffer, at, types, fields);
  });
}

/** The kernel's intervals exclude their end; the last address has no successor. */
function afterRange(types: readonly DataType[], last: readonly Field[]): Uint8Array | undefined {
  const bytes = Buffer.alloc(dataLength(types));
  writeFields(bytes, 0, types, last);
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    const byte = bytes[index] ?? 0;
    bytes[index] = (byte + 1) & 0xff;
    if (byte !== 0xff) return bytes;
  }
  return undefined;
}
