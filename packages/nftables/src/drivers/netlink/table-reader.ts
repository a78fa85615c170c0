import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ElementCount } from '../driver.ts';
import type {
  Element,
  NamedSet,
  PresentChain,
  PresentRuleset,
  SetDefinition,
  TableFamily,
} from '../../model/ruleset.ts';
import {
  elementsAttribute,
  generationAttribute,
  messageDone,
  messageError,
  messages,
  netlinkAck,
  netlinkDump,
  netlinkDumpInterrupted,
  netlinkRequest,
  ruleAttribute,
  setAttribute,
  subsystemNftables,
  tableAttribute,
  tableFamilies,
} from '@causeway/netlink/constants';
import { decodeChain, decodeCounters, decodeElements, decodeRule, decodeSet } from './decode.ts';
import { kernelErrors } from './kernel-error.ts';
import { messageAttributes, readMessages, type Message } from '@causeway/netlink/reader';
import type { ExchangeSocket } from '@causeway/netlink/socket';
import { MessageWriter } from '@causeway/netlink/writer';

const errnoNoEntry = 2;
const mostAttempts = 10;

/** Reads one table from the kernel. */
export class TableReader {
  readonly #socket: ExchangeSocket;
  readonly #table: string;
  readonly #family: number;

  constructor(socket: ExchangeSocket, table: string, family: TableFamily) {
    this.#socket = socket;
    this.#table = table;
    this.#family = tableFamilies[family];
  }

  /** Whether the table exists, and its owner. */
  async table(
    signal?: AbortSignal,
  ): Promise<{ flags: number; owner: number | undefined } | undefined> {
    const found = await this.#request(messages.getTable, netlinkAck, signal, (w) =>
      w.text(tableAttribute.name, this.#table),
    );
    const [message] = found ?? [];
    if (message === undefined) return undefined;
    const attributes = messageAttributes(message);
    return {
      flags: attributes.u32(tableAttribute.flags) ?? 0,
      owner: attributes.u32(tableAttribute.owner),
    };
  }

  /** The whole contents of the table, of one generation. */
  async read(signal?: AbortSignal): Promise<PresentRuleset | undefined> {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const generation = await this.#generation(signal);
      const table = await this.table(signal);
      if (table === undefined) return undefined;
      const chains = await this.#chains(signal);
      const sets = await this.#sets(signal);
      const isConsistent = generation === (await this.#generation(signal));
      if (isConsistent && chains !== undefined && sets !== undefined) {
        return { table: this.#table, generation, chains, sets };
      }
    }
    throw new CausewayError('unavailable', 'nftables changes faster than it can be read');
  }

  async counters(set: string, signal?: AbortSignal): Promise<Map<string, ElementCount>> {
    const definition = await this.#definition(set, signal);
    if (definition === undefined) {
      throw new CausewayError('not-found', `there is no set ${set} in ${this.#table}`);
    }
    return decodeCounters(definition, (await this.#elements(set, signal)) ?? []);
  }

  /** Elements that are added or removed during the listing may be missing. */
  async elements(set: string, signal?: AbortSignal): Promise<readonly Element[]> {
    const definition = await this.#definition(set, signal);
    if (definition === undefined) return [];
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const found = await this.#elements(set, signal);
      if (found !== undefined) return [...decodeElements(definition, found).values()];
    }
    throw new CausewayError('unavailable', 'nftables changes faster than it can be read');
  }

  async #definition(
    set: string,
    signal: AbortSignal | undefined,
  ): Promise<SetDefinition | undefined> {
    const found = await this.#request(messages.getSet, netlinkAck, signal, (w) => {
      w.text(setAttribute.table, this.#table);
      w.text(setAttribute.name, set);
    });
    const [message] = found ?? [];
    return message === undefined ? undefined : decodeSet(message);
  }

  async #generation(signal: AbortSignal | undefined): Promise<number> {
    const found = await this.#request(messages.getGeneration, netlinkAck, signal, () => {});
    const [message] = found ?? [];
    return message === undefined
      ? 0
      : (messageAttributes(message).u32(generationAttribute.id) ?? 0);
  }

  async #chains(signal: AbortSignal | undefined): Promise<Map<string, PresentChain> | undefined> {
    const chains = await this.#request(messages.getChain, netlinkDump, signal, () => {});
    const rules = await this.#request(messages.getRule, netlinkDump, signal, (w) =>
      w.text(ruleAttribute.table, this.#table),
    );
    if (chains === undefined || rules === undefined) return undefined;
    const digests = new Map<string, string[]>();
    const found = new Map<string, PresentChain>();
    for (const message of chains) {
      const { table, name, base } = decodeChain(message);
      if (table !== this.#table) continue;
      const list: string[] = [];
      digests.set(name, list);
      found.set(name, base === undefined ? { rules: list } : { base, rules: list });
    }
    for (const message of rules) {
      const { chain, digest } = decodeRule(message);
      digests.get(chain)?.push(digest);
    }
    return found;
  }

  async #sets(signal: AbortSignal | undefined): Promise<Map<string, NamedSet> | undefined> {
    const answer = await this.#request(messages.getSet, netlinkDump, signal, (w) =>
      w.text(setAttribute.table, this.#table),
    );
    if (answer === undefined) return undefined;
    const sets = new Map<string, NamedSet>();
    for (const message of answer) {
      const definition = decodeSet(message) ?? foreignSet(message);
      const elements =
        definition.dynamic === true ? [] : await this.#elements(definition.name, signal);
      if (elements === undefined) return undefined;
      sets.set(definition.name, { definition, elements: decodeElements(definition, elements) });
    }
    return sets;
  }

  #elements(set: string, signal: AbortSignal | undefined): Promise<Message[] | undefined> {
    return this.#request(messages.getElements, netlinkDump, signal, (w) => {
      w.text(elementsAttribute.table, this.#table);
      w.text(elementsAttribute.set, set);
    });
  }

  /** Undefined if the object does not exist, or changed during the listing. */
  async #request(
    type: number,
    flags: number,
    signal: AbortSignal | undefined,
    write: (writer: MessageWriter) => void,
  ): Promise<Message[] | undefined> {
    const sequence = this.#socket.reserveSequence(1);
    const writer = new MessageWriter(256);
    const family = type === messages.getGeneration ? 0 : this.#family;
    writer.message((subsystemNftables << 8) | type, netlinkRequest | flags, sequence, family);
    write(writer);
    writer.endMessage();
    const answer = await this.#socket.exchange(writer.bytes(), sequence, sequence, signal);
    const [error] = kernelErrors(answer);
    if (error !== undefined) {
      if (error.errno === errnoNoEntry) return undefined;
      throw new CausewayError('unavailable', `nftables could not be read: errno ${error.errno}`);
    }
    const found = [...readMessages(answer)].filter((message) => message.sequence === sequence);
    if (found.some((message) => (message.flags & netlinkDumpInterrupted) !== 0)) return undefined;
    return found.filter(({ type: kind }) => kind !== messageError && kind !== messageDone);
  }
}

/** A foreign set in our table. It must be known so that it can be removed. */
function foreignSet(message: Message): SetDefinition {
  const name = messageAttributes(message).text(setAttribute.name) ?? '';
  return { name, key: [], dynamic: true };
}
