import { ruleDigest, type SetDefinition, type TableFamily } from '../../model/ruleset.ts';
import type { Operation } from '../../model/transaction.ts';
import {
  chainAttribute,
  descriptionSize,
  expressionAttribute,
  hookAttribute,
  hookNumbers,
  messages,
  netlinkAck,
  netlinkAppend,
  netlinkCreate,
  netlinkRequest,
  ruleAttribute,
  setAttribute,
  setFlags,
  subsystemNftables,
  tableAttribute,
  tableFamilies,
  verdictDataType,
} from '@causeway/netlink/constants';
import { writeElements } from './encode-elements.ts';
import { writeExpressions } from './encode-rule.ts';
import { dataLength, typeNumber } from './fields.ts';
import type { MessageWriter } from '@causeway/netlink/writer';

/** The part of an operation that a message carries, to trace errors back to it. */
export interface MessageOrigin {
  readonly operation: Operation;
  /** Index of the first element of the operation in this message. */
  readonly firstElement?: number;
}

/** Starts and numbers the messages of one batch, and records their origin. */
export class BatchEncoder {
  readonly writer: MessageWriter;
  readonly table: string;
  readonly #family: number;
  readonly #tableFlags: number;
  readonly #firstSequence: number;
  readonly origins: MessageOrigin[] = [];
  #nextSetId = 1;

  constructor(
    writer: MessageWriter,
    table: string,
    tableFlags: number,
    firstSequence: number,
    family: TableFamily = 'inet',
  ) {
    this.writer = writer;
    this.table = table;
    this.#family = tableFamilies[family];
    this.#tableFlags = tableFlags;
    this.#firstSequence = firstSequence;
  }

  get nextSequence(): number {
    return this.#firstSequence + this.origins.length;
  }

  origin(sequence: number): MessageOrigin | undefined {
    return this.origins[sequence - this.#firstSequence];
  }

  encode(operation: Operation): void {
    switch (operation.op) {
      case 'add-table':
        this.#table(messages.newTable, netlinkCreate, operation);
        return;
      case 'remove-table':
        // The preceding add makes the removal of a missing table succeed.
        this.#table(messages.newTable, netlinkCreate, operation);
        this.#table(messages.deleteTable, 0, operation);
        return;
      case 'add-chain':
        this.#addChain(operation);
        return;
      case 'remove-chain':
        this.#message(messages.deleteChain, 0, { operation }, (w) => {
          w.text(chainAttribute.table, this.table);
          w.text(chainAttribute.name, operation.chain);
        });
        return;
      case 'set-rules':
        this.#setRules(operation);
        return;
      case 'add-set':
        this.#message(messages.newSet, netlinkCreate, { operation }, (w) =>
          this.#writeSet(w, operation.definition),
        );
        return;
      case 'remove-set':
        this.#message(messages.deleteSet, 0, { operation }, (w) => {
          w.text(setAttribute.table, this.table);
          w.text(setAttribute.name, operation.set);
        });
        return;
      case 'flush-set':
        this.#message(messages.deleteElements, 0, { operation }, (w) => {
          w.text(setAttribute.table, this.table);
          w.text(setAttribute.name, operation.set);
        });
        return;
      case 'add-elements':
      case 'remove-elements':
        writeElements(this, operation, 0, operation.elements.length);
        return;
    }
  }

  /** Requests an answer to the last message so far: by then the kernel has processed all of them. */
  askForAnswer(): void {
    this.writer.addFlags(netlinkAck);
  }

  /** Starts one message of the batch. */
  startMessage(type: number, flags: number, origin: MessageOrigin): void {
    const kind = (subsystemNftables << 8) | type;
    this.writer.message(kind, netlinkRequest | flags, this.nextSequence, this.#family);
    this.origins.push(origin);
  }

  #message(
    type: number,
    flags: number,
    origin: MessageOrigin,
    write: (writer: MessageWriter) => void,
  ): void {
    this.startMessage(type, flags, origin);
    write(this.writer);
    this.writer.endMessage();
  }

  #table(type: number, flags: number, operation: Operation): void {
    this.#message(type, flags, { operation }, (w) => {
      w.text(tableAttribute.name, this.table);
      if (operation.op === 'add-table' && this.#tableFlags !== 0) {
        w.u32(tableAttribute.flags, this.#tableFlags);
      }
    });
  }

  #addChain(operation: Extract<Operation, { op: 'add-chain' }>): void {
    const { chain, base } = operation;
    this.#message(messages.newChain, netlinkCreate, { operation }, (w) => {
      w.text(chainAttribute.table, this.table);
      w.text(chainAttribute.name, chain);
      if (base === undefined) return;
      w.nest(chainAttribute.hook, () => {
        w.u32(hookAttribute.number, hookNumbers[base.hook]);
        w.u32(hookAttribute.priority, base.priority);
      });
      w.u32(chainAttribute.policy, 1);
      w.text(chainAttribute.type, base.type);
    });
  }

  #setRules(operation: Extract<Operation, { op: 'set-rules' }>): void {
    const { chain, rules } = operation;
    this.#message(messages.deleteRule, 0, { operation }, (w) => {
      w.text(ruleAttribute.table, this.table);
      w.text(ruleAttribute.chain, chain);
    });
    for (const rule of rules) {
      this.#message(messages.newRule, netlinkCreate | netlinkAppend, { operation }, (w) => {
        w.text(ruleAttribute.table, this.table);
        w.text(ruleAttribute.chain, chain);
        w.nest(ruleAttribute.expressions, () => writeExpressions(w, rule));
        w.bytesAttribute(ruleAttribute.userdata, commentUserdata(ruleDigest(rule)));
      });
    }
  }

  #writeSet(w: MessageWriter, definition: SetDefinition): void {
    const { name, key, value, interval, dynamic, counter } = definition;
    const flags =
      (interval === true ? setFlags.interval : 0) |
      (value === undefined ? 0 : setFlags.map) |
      (dynamic === true ? setFlags.timeout | setFlags.evaluate : 0);
    w.text(setAttribute.table, this.table);
    w.text(setAttribute.name, name);
    w.u32(setAttribute.flags, flags);
    w.u32(setAttribute.keyType, typeNumber(key));
    w.u32(setAttribute.keyLength, dataLength(key));
    w.u32(setAttribute.id, this.#nextSetId);
    this.#nextSetId += 1;
    if (value === 'verdict') {
      w.u32(setAttribute.dataType, verdictDataType);
    } else if (value !== undefined) {
      w.u32(setAttribute.dataType, typeNumber(value));
      w.u32(setAttribute.dataLength, dataLength(value));
    }
    if (dynamic === true) {
      w.nest(setAttribute.description, () => w.u32(descriptionSize, mostClients));
    }
    if (key.length === 1 && key[0] === 'slot') {
      w.bytesAttribute(setAttribute.userdata, hostByteOrder);
    }
    if (counter === true) {
      w.nest(setAttribute.expression, () => {
        w.text(expressionAttribute.name, 'counter');
        w.nest(expressionAttribute.data, () => {});
      });
    }
  }
}

/** Makes nft print a single numeric key in the machine's byte order. */
const hostByteOrder = Uint8Array.of(0, 4, 1, 0, 0, 0);

/** nft's default size of a dynamic set. */
const mostClients = 65_535;

/** nft's storage format of a rule's comment. */
function commentUserdata(comment: string): Buffer {
  const text = Buffer.from(`${comment}\0`);
  return Buffer.concat([Buffer.of(0, text.length), text]);
}
