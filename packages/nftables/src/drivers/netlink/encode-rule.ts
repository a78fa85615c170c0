import { addressBytes, type Family } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { NatTarget, Operand, Rule, Statement, Verdict } from '../../model/expression.ts';
import {
  dataAttribute,
  expressionAttribute,
  listElement,
  verdictAttribute,
  verdictCodes,
} from '@causeway/netlink/constants';
import type { MessageWriter } from '@causeway/netlink/writer';
import { numberBytes, registersOf } from './operand-bytes.ts';

/**
 * A rule in the kernel's form: a list of expressions that load, compare and look up registers. nft 1.0.6
 * makes the same expressions of the rule; a contract test compares them.
 */
export function writeExpressions(writer: MessageWriter, rule: Rule): void {
  const encoder = new RuleEncoder(writer);
  for (const statement of rule.statements) encoder.statement(statement);
}

export function writeVerdict(writer: MessageWriter, verdict: Verdict): void {
  writer.nest(dataAttribute.verdict, () => {
    writer.u32(verdictAttribute.code, verdictCodes[verdict.kind]);
    if ('chain' in verdict) writer.text(verdictAttribute.chain, verdict.chain);
  });
}

/** Number of the first four-byte register; there are sixteen of them. */
const firstRegister = 8;
const registerCount = 16;
const verdictRegister = 0;

interface Load {
  /** Number of loaded bytes. */
  readonly size: number;
  write(register: number): void;
}

const metaKeys = { inputInterface: 6, family: 15, protocol: 16 } as const;
/** Size of an interface name in the kernel. */
const interfaceNameSize = 16;
const fib = { addressType: 3, ofSource: 1 } as const;
const socketIsTransparent = 0;
const connectionKeys = {
  state: 0,
  direction: 1,
  status: 2,
  destinationPort: 12,
  destination4: 20,
  destination6: 22,
} as const;
/** Operations on a set by a rule. */
const dynamicSet = { update: 1, delete: 2 } as const;
const networkHeader = 1;
const transportHeader = 2;

class RuleEncoder {
  readonly #writer: MessageWriter;

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  statement(statement: Statement): void {
    switch (statement.kind) {
      case 'compare':
        this.#compare(statement);
        return;
      case 'lookup':
        this.#loadKey(statement.key, 0);
        this.#lookup(statement.set, 0, undefined, !statement.present);
        return;
      case 'input-interface':
        this.#inputInterface(statement.name, statement.isPrefix);
        return;
      case 'dispatch':
        this.#loadKey(statement.key, 0);
        this.#lookup(statement.map, 0, verdictRegister, false);
        return;
      case 'dnat':
      case 'snat':
        this.#nat(statement.kind, statement.family, statement.to);
        return;
      case 'masquerade':
        this.#expression('masq', (w) => w.u32(1, 0x10));
        return;
      case 'redirect':
        this.#redirect(statement.port);
        return;
      case 'reject':
        this.#expression('reject', (w) => {
          w.u32(1, statement.reason === 'tcp-reset' ? 1 : 2);
          w.u8(2, statement.reason === 'tcp-reset' ? 0 : 1);
        });
        return;
      case 'remember':
        this.#changeSet(statement, dynamicSet.update, statement.timeoutSeconds);
        return;
      case 'forget':
        this.#changeSet(statement, dynamicSet.delete);
        return;
      case 'set-tcp-flags':
        this.#setTcpFlags(statement.flags);
        return;
      case 'log':
        this.#expression('log', (w) => w.u16(1, statement.group));
        return;
      case 'send-to':
        this.#sendTo(statement.key, statement.map);
        return;
      case 'notrack':
        this.#expression('notrack', () => {});
        return;
      case 'verdict':
        this.#expression('immediate', (w) => {
          w.u32(1, verdictRegister);
          w.nest(2, () => writeVerdict(w, statement.verdict));
        });
        return;
    }
  }

  #expression(name: string, data: (writer: MessageWriter) => void): void {
    const writer = this.#writer;
    writer.nest(listElement, () => {
      writer.text(expressionAttribute.name, name);
      writer.nest(expressionAttribute.data, () => data(writer));
    });
  }

  #changeSet(
    { set, key }: { readonly set: string; readonly key: readonly Operand[] },
    operation: number,
    timeoutSeconds?: number,
  ): void {
    this.#loadKey(key, 0);
    this.#expression('dynset', (w) => {
      w.text(1, set);
      w.u32(3, operation);
      w.u32(4, firstRegister);
      if (timeoutSeconds !== undefined) w.u64(6, BigInt(timeoutSeconds) * 1000n);
    });
  }

  /** The kernel updates the checksum by whole words, so the byte before the flags is written again. */
  #setTcpFlags(flags: number): void {
    this.#payload(transportHeader, 12, 2).write(firstRegister);
    this.#bitwise(Uint8Array.of(0xff, 0), Uint8Array.of(0, flags));
    this.#expression('payload', (w) => {
      w.u32(5, firstRegister);
      w.u32(2, transportHeader);
      w.u32(3, 12);
      w.u32(4, 2);
      w.u32(6, 1);
      w.u32(7, 16);
    });
  }

  /** On the first register: its bits in `mask`, with those of `xor` inverted. */
  #bitwise(mask: Uint8Array, xor: Uint8Array): void {
    this.#expression('bitwise', (w) => {
      w.u32(1, firstRegister);
      w.u32(2, firstRegister);
      w.u32(3, mask.length);
      w.nest(4, () => w.bytesAttribute(dataAttribute.value, mask));
      w.nest(5, () => w.bytesAttribute(dataAttribute.value, xor));
    });
  }

  #redirect(port: Port): void {
    this.#immediate(firstRegister, Uint8Array.of(port >> 8, port & 0xff));
    this.#expression('redir', (w) => {
      w.u32(1, firstRegister);
      w.u32(2, firstRegister);
      w.u32(3, 2);
    });
  }

  #sendTo(key: readonly Operand[], map: string): void {
    this.#loadKey(key, 0);
    this.#lookup(map, 0, firstRegister, false);
    this.#expression('dup', (w) => w.u32(1, firstRegister));
  }

  #compare(statement: Extract<Statement, { kind: 'compare' }>): void {
    const { operand, mask, value, equal } = statement;
    const load = this.#load(operand, 1);
    load.write(firstRegister);
    if (mask !== undefined) {
      this.#bitwise(numberBytes(operand, mask, load.size), new Uint8Array(load.size));
    }
    this.#expression('cmp', (w) => {
      w.u32(1, firstRegister);
      w.u32(2, equal ? 0 : 1);
      const bytes = numberBytes(operand, value, load.size);
      w.nest(3, () => w.bytesAttribute(dataAttribute.value, bytes));
    });
  }

  /** A prefix is compared over its own bytes only, a whole name with its trailing zeros. */
  #inputInterface(name: string, isPrefix: boolean): void {
    this.#meta(metaKeys.inputInterface, interfaceNameSize).write(firstRegister);
    const bytes = Buffer.alloc(isPrefix ? name.length : interfaceNameSize);
    bytes.write(name, 'latin1');
    this.#expression('cmp', (w) => {
      w.u32(1, firstRegister);
      w.u32(2, 0);
      w.nest(3, () => w.bytesAttribute(dataAttribute.value, bytes));
    });
  }

  /** Loads the operands into registers one after another; returns the number of registers used. */
  #loadKey(key: readonly Operand[], start: number): number {
    const total = key.reduce((sum, operand) => sum + registersOf(operand), 0);
    let at = start;
    for (const operand of key) {
      // The inputs of a hash are loaded behind the key, where nothing else will be loaded.
      this.#load(operand, start + total).write(firstRegister + at);
      at += registersOf(operand);
    }
    return total;
  }

  #lookup(set: string, from: number, to: number | undefined, inverted: boolean): void {
    this.#expression('lookup', (w) => {
      w.text(1, set);
      w.u32(2, firstRegister + from);
      if (to !== undefined) w.u32(3, to);
      if (inverted) w.u32(5, 1);
    });
  }

  #nat(kind: 'dnat' | 'snat', family: Family, target: NatTarget): void {
    const addressRegisters = family === 4 ? 1 : 4;
    let port = addressRegisters;
    switch (target.kind) {
      case 'backend-map':
        this.#loadKey(target.key, 0);
        this.#lookup(target.map, 0, firstRegister, false);
        break;
      case 'split-maps':
        this.#loadKey(target.addressKey, 0);
        this.#lookup(target.addressMap, 0, firstRegister, false);
        port = addressRegisters;
        this.#loadKey(target.portKey, port);
        this.#lookup(target.portMap, port, firstRegister + port, false);
        break;
      case 'backend':
        this.#immediate(firstRegister, addressBytes(target.address));
        this.#immediate(firstRegister + port, Uint8Array.of(target.port >> 8, target.port & 0xff));
        break;
    }
    this.#expression('nat', (w) => {
      w.u32(1, kind === 'snat' ? 0 : 1);
      w.u32(2, family === 4 ? 2 : 10);
      w.u32(3, firstRegister);
      w.u32(4, firstRegister);
      w.u32(5, firstRegister + port);
      w.u32(6, firstRegister + port);
    });
  }

  #immediate(register: number, bytes: Uint8Array): void {
    this.#expression('immediate', (w) => {
      w.u32(1, register);
      w.nest(2, () => w.bytesAttribute(dataAttribute.value, bytes));
    });
  }

  #load(operand: Operand, spare: number): Load {
    switch (operand.kind) {
      case 'source':
        return operand.family === 4
          ? this.#payload(networkHeader, 12, 4)
          : this.#payload(networkHeader, 8, 16);
      case 'destination':
        return operand.family === 4
          ? this.#payload(networkHeader, 16, 4)
          : this.#payload(networkHeader, 24, 16);
      case 'source-port':
        return this.#payload(transportHeader, 0, 2);
      case 'destination-port':
        return this.#payload(transportHeader, 2, 2);
      case 'tcp-flags':
        return this.#payload(transportHeader, 13, 1);
      case 'ttl':
        return this.#payload(networkHeader, operand.family === 4 ? 8 : 7, 1);
      case 'vrrp-router-id':
        return this.#payload(transportHeader, 1, 1);
      case 'icmp-type':
      case 'icmpv6-type':
        return this.#payload(transportHeader, 0, 1);
      case 'protocol':
        return this.#meta(metaKeys.protocol, 1);
      case 'family':
        return this.#meta(metaKeys.family, 1);
      case 'connection-state':
        return this.#connection(connectionKeys.state, 4);
      case 'connection-status':
        return this.#connection(connectionKeys.status, 4);
      case 'connection-direction':
        return this.#connection(connectionKeys.direction, 1);
      case 'original-destination':
        return operand.family === 4
          ? this.#connection(connectionKeys.destination4, 4, true)
          : this.#connection(connectionKeys.destination6, 16, true);
      case 'original-destination-port':
        return this.#connection(connectionKeys.destinationPort, 2, true);
      case 'hash':
        return this.#hash(operand, spare);
      case 'random':
        return this.#random(operand.modulus, operand.offset ?? 0);
      case 'source-type':
        return this.#sourceType();
      case 'socket':
        return this.#socket();
      default:
        return operand satisfies never;
    }
  }

  #payload(base: number, offset: number, size: number): Load {
    const write = (register: number) =>
      this.#expression('payload', (w) => {
        w.u32(1, register);
        w.u32(2, base);
        w.u32(3, offset);
        w.u32(4, size);
      });
    return { size, write };
  }

  #meta(key: number, size: number): Load {
    const write = (register: number) =>
      this.#expression('meta', (w) => {
        w.u32(2, key);
        w.u32(1, register);
      });
    return { size, write };
  }

  #connection(key: number, size: number, original = false): Load {
    const write = (register: number) =>
      this.#expression('ct', (w) => {
        w.u32(2, key);
        w.u32(1, register);
        if (original) w.u8(3, 0);
      });
    return { size, write };
  }

  #hash(operand: Extract<Operand, { kind: 'hash' }>, spare: number): Load {
    const write = (register: number) => {
      const registers = this.#loadKey(operand.of, spare);
      if (spare + registers > registerCount) throw new RangeError('a key is too long to be hashed');
      this.#expression('hash', (w) => {
        w.u32(1, firstRegister + spare);
        w.u32(2, register);
        w.u32(3, registers * 4);
        w.u32(4, operand.modulus);
        w.u32(5, operand.seed);
        if (operand.offset !== undefined && operand.offset > 0) w.u32(6, operand.offset);
        w.u32(7, 0);
      });
    };
    return { size: 4, write };
  }

  #sourceType(): Load {
    const write = (register: number) =>
      this.#expression('fib', (w) => {
        w.u32(1, register);
        w.u32(2, fib.addressType);
        w.u32(3, fib.ofSource);
      });
    return { size: 4, write };
  }

  #socket(): Load {
    const write = (register: number) =>
      this.#expression('socket', (w) => {
        w.u32(1, socketIsTransparent);
        w.u32(2, register);
      });
    return { size: 1, write };
  }

  #random(modulus: number, offset: number): Load {
    const write = (register: number) =>
      this.#expression('numgen', (w) => {
        w.u32(1, register);
        w.u32(2, modulus);
        w.u32(3, 1);
        w.u32(4, offset);
      });
    return { size: 4, write };
  }
}
