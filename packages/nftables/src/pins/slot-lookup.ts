import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { jhash, scaleHash } from '../compile/jhash.ts';
import { buildSlotTable } from '../compile/slot-table.ts';
import type { Backend, VirtualService } from '../compile/virtual-service.ts';

/** A client's address and port as bytes: the input of the hash. */
export interface ClientBytes {
  readonly address: Uint8Array;
  readonly port: number;
}

/** Only the address of a node counts in the shared table of nodes. */
const anyPort = parsePort(1);

/** Computes the backend that the kernel's slots select for a new connection. Keeps the slot tables. */
export class SlotLookup {
  readonly #seed: number;
  readonly #tables = new WeakMap<readonly Backend[], readonly Backend[]>();
  readonly #nodeTables = new WeakMap<readonly Address[], Map<Family, readonly Backend[]>>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Undefined if no slot decides alone, or if the service has no backend. */
  backendOf(
    service: VirtualService,
    nodes: readonly Address[],
    client: ClientBytes,
  ): Backend | undefined {
    const { dispatch, affinity } = service;
    if (affinity?.kind === 'client-timeout' || service.insideBackends !== undefined) {
      return undefined;
    }
    const input = hashInput(client, affinity?.kind === 'client-hash');
    if (dispatch.kind === 'slots') return this.#pick(this.#tableOf(dispatch.backends), input);
    if (dispatch.kind !== 'node-ports') return undefined;
    const node = this.#pick(this.#nodeTableOf(nodes, familyOf(service.address)), input);
    return node === undefined ? undefined : { address: node.address, port: dispatch.nodePort };
  }

  #pick(table: readonly Backend[], input: Uint8Array): Backend | undefined {
    return table[scaleHash(jhash(input, this.#seed), table.length)];
  }

  #tableOf(backends: readonly Backend[]): readonly Backend[] {
    const known = this.#tables.get(backends);
    if (known !== undefined) return known;
    const table = buildSlotTable(backends, this.#seed);
    this.#tables.set(backends, table);
    return table;
  }

  #nodeTableOf(nodes: readonly Address[], family: Family): readonly Backend[] {
    const tables = this.#nodeTables.get(nodes) ?? new Map<Family, readonly Backend[]>();
    this.#nodeTables.set(nodes, tables);
    const known = tables.get(family);
    if (known !== undefined) return known;
    const own = nodes.filter((node) => familyOf(node) === family);
    const table = buildSlotTable(
      own.map((address) => ({ address, port: anyPort })),
      this.#seed,
    );
    tables.set(family, table);
    return table;
  }
}

/** As in the kernel's registers: each field starts on a four-byte boundary. */
function hashInput({ address, port }: ClientBytes, isByClient: boolean): Uint8Array {
  if (isByClient) return address;
  const bytes = new Uint8Array(address.length + 4);
  bytes.set(address);
  bytes[address.length] = port >> 8;
  bytes[address.length + 1] = port & 0xff;
  return bytes;
}
