import { tryParseAddress, type Address } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ConfigMap } from '../../kube/core-objects.ts';
import { patchOrCreate } from '../../kube/patch-or-create.ts';
import { configMaps } from '../../kube/resources.ts';
import type { Clock } from '../../runtime/clock.ts';
import { withDeadline } from '../../runtime/deadline.ts';

/**
 * Where it is written down which addresses of a list are given out. An address that no Service names any
 * more, but that a gateway may still announce, is known from here alone after a restart.
 */
export interface AddressBook {
  read(signal: AbortSignal): Promise<ReadonlySet<Address>>;
  /** Resolves when the addresses are written down: only then may anybody have them. */
  enter(addresses: readonly Address[]): Promise<void>;
  /** Nobody has the address any more, and no gateway can announce it. */
  strike(address: Address): Promise<void>;
}

/** The ConfigMap beside the controller's lease. */
export const addressBookName = 'causeway-gateway-addresses';

const versionKey = 'version';
const version = '1';
const limitMs = 10_000;

export interface ConfigMapAddressBookOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

interface Batch {
  /** Undefined strikes the address. */
  readonly changes: Map<Address, 'given' | undefined>;
  readonly written: Promise<void>;
}

/**
 * One key for each address. Writes go one after the other, and what comes while one is under way goes
 * with the next, so that a thousand Services at once are a handful of writes.
 */
export class ConfigMapAddressBook implements AddressBook {
  readonly #options: ConfigMapAddressBookOptions;
  #last: Promise<void> = Promise.resolve();
  #next: Batch | undefined;

  constructor(options: ConfigMapAddressBookOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<ReadonlySet<Address>> {
    const { client, namespace } = this.#options;
    const name = { namespace, name: addressBookName };
    return readAddresses((await client.find(configMaps, name, { signal })) ?? {});
  }

  async enter(addresses: readonly Address[]): Promise<void> {
    if (addresses.length > 0) await this.#change(addresses, 'given');
  }

  strike(address: Address): Promise<void> {
    return this.#change([address], undefined);
  }

  #change(addresses: readonly Address[], to: 'given' | undefined): Promise<void> {
    this.#next ??= this.#newBatch();
    for (const address of addresses) this.#next.changes.set(address, to);
    return this.#next.written;
  }

  #newBatch(): Batch {
    const changes: Batch['changes'] = new Map();
    const written = this.#last.then(() => {
      this.#next = undefined;
      return this.#write(changes);
    });
    this.#last = written.catch(() => {});
    return { changes, written };
  }

  #write(changes: Batch['changes']): Promise<void> {
    const { client, namespace, clock } = this.#options;
    const metadata = { namespace, name: addressBookName };
    const data: Record<string, string | null> = { [versionKey]: version };
    for (const [address, to] of changes) data[keyOf(address)] = to ?? null;
    // No caller's signal: what one of them gives up the others still wait for.
    return withDeadline(clock, limitMs, undefined, `writing ${addressBookName}`, (signal) =>
      patchOrCreate(client, configMaps, { metadata }, { data }, signal),
    );
  }
}

/** A book that can't be read stops everything: an address given twice is worse than none. */
function readAddresses({ data = {} }: ConfigMap): Set<Address> {
  const { [versionKey]: written, ...entries } = data;
  if (written !== undefined && written !== version) throw unreadable(`version ${written}`);
  const addresses = new Set<Address>();
  for (const key of Object.keys(entries)) {
    const address = tryParseAddress(key.replaceAll('_', ':'));
    if (address === undefined) throw unreadable(`the key ${key}`);
    addresses.add(address);
  }
  return addresses;
}

function unreadable(what: string): CausewayError {
  return new CausewayError('invalid', `the ConfigMap ${addressBookName} has ${what}`, {
    hint: 'A newer Causeway may have written it. It holds one key for each address that is given out.',
  });
}

/** Keys of a ConfigMap may have no colons. */
function keyOf(address: Address): string {
  return address.replaceAll(':', '_');
}
