import { tryParseAddress } from '@causeway/base/address/address';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { services } from '@causeway/kubernetes/objects/resources';
import { nobodyListens } from '@causeway/base/work/progress-listener';
import { holdingAnnotation } from './annotations.ts';
import type { PendingReleases } from './pending-releases.ts';
import { formatHolding, readHolding, type Holding } from './holding.ts';
import {
  compareWithLedger,
  findDeparting,
  strangeAddresses,
  type Finding,
} from './ledger-comparison.ts';
import type { Grant, PoolLedger } from './pool-ledger.ts';
import { readPoolServiceSpec } from './service-spec.ts';

const fieldManager = 'causeway-controller';
const mostAttempts = 5;

export interface Repair {
  readonly finding: Finding;
  /** What was done, or why not. */
  readonly outcome: string;
}

/** Looks for what the cluster and the ledger don't agree on, and mends what can be mended safely. */
export class LedgerCheck {
  readonly #client: KubeClient;
  readonly #ledger: PoolLedger;

  readonly #departures: PendingReleases;

  constructor(client: KubeClient, ledger: PoolLedger, departures: PendingReleases) {
    this.#client = client;
    this.#ledger = ledger;
    this.#departures = departures;
  }

  async findings(
    signal: AbortSignal,
    listener = nobodyListens,
  ): Promise<{ findings: Finding[]; reservations: number }> {
    // In this order: a reservation without a Service then is one for good.
    const reservations = await this.#ledger.reservations(signal);
    const present: Service[] = [];
    for await (const service of this.#client.list(services, { signal })) {
      present.push(withSlimMetadata(service));
    }
    const departing = await this.#departures.list(signal);
    const uids = new Set(departing.map(({ uid }) => uid));
    const findings = [
      ...compareWithLedger(reservations, present, uids),
      ...findDeparting(reservations, departing),
    ];
    listener.begin('Looking at', present.length);
    for (const service of present) {
      findings.push(...(await this.#notReserved(service, signal)));
      listener.step(keyOf(service));
    }
    const count = reservations.filter(({ purpose }) => purpose === 'load-balancer').length;
    return { findings, reservations: count };
  }

  /**
   * Frees what is leaked and claims what the ledger lost. Refuses to free more than half of what the
   * cluster holds unless `all` is said: the kubeconfig may be of another cluster than the credential.
   */
  async repair(
    { findings, reservations }: { findings: readonly Finding[]; reservations: number },
    all: boolean,
    signal: AbortSignal,
    listener = nobodyListens,
  ): Promise<Repair[]> {
    const leaked = findings.filter(({ kind }) => kind === 'leaked');
    if (!all && leaked.length * 2 > reservations) {
      throw new CausewayError(
        'conflict',
        `${leaked.length} of ${reservations} reservations have no Service here: nothing was repaired`,
        {
          hint: 'Is the kubeconfig that of the cluster that the credential is for? If it is meant, say --all.',
        },
      );
    }
    const repairs: Repair[] = [];
    listener.begin('Mending', findings.length);
    for (const finding of findings) {
      repairs.push({ finding, outcome: await this.#mend(finding, signal) });
      listener.step(finding.service);
    }
    return repairs;
  }

  async #mend(finding: Finding, signal: AbortSignal): Promise<string> {
    try {
      switch (finding.kind) {
        case 'leaked':
          await this.#ledger.delete(finding.uid, finding.fence ?? 0, false, signal);
          return 'freed; it rests before others get it';
        case 'not-in-ledger':
          return await this.#claim(finding, signal);
        case 'departing':
        case 'leaked-but-shown':
        case 'other-address':
        case 'not-announced':
        case 'not-reserved':
          return 'left as it is';
      }
    } catch (error) {
      const { message } = CausewayError.from(error);
      return `not repaired: ${message}`;
    }
  }

  /** The fence that it is held with goes to the Service: it frees with what stands there. */
  async #claim(finding: Finding, signal: AbortSignal): Promise<string> {
    const [namespace = '', name = ''] = finding.service.split('/');
    for (let attempt = 1; ; attempt += 1) {
      const service = await this.#client.find(services, { namespace, name }, { signal });
      if (service?.metadata?.uid !== finding.uid) return 'its Service is no more';
      const holding = readHolding(service);
      const reading = readPoolServiceSpec(service, holding);
      if (reading.kind === 'refused') return `not repaired: ${reading.message}`;
      const grant = await this.#ledger.ensure(finding.uid, reading.spec.demand, signal);
      if (grant === undefined) return 'waits for an address';
      // It holds something else by now: the controller tells the announcer and writes it down.
      if (holding === undefined || !isSame(grant, holding)) return 'held again';
      try {
        await this.#note(service, { ...holding, fence: grant.fence }, signal);
        return 'held again';
      } catch (error) {
        // Somebody wrote to it in between; what it holds may have changed with that.
        if (!isErrorCode(error, 'conflict') || attempt === mostAttempts) throw error;
      }
    }
  }

  async #note({ metadata }: Service, holding: Holding, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '', uid, resourceVersion } = metadata ?? {};
    const annotations = { [holdingAnnotation]: formatHolding(holding) };
    const patch = { metadata: { uid, resourceVersion, annotations } };
    await this.#client.patchMerge(services, { namespace, name }, patch, { signal, fieldManager });
  }

  /** A Service may have been given an address of the shared pool by hand: nobody knows of that one. */
  async #notReserved(service: Service, signal: AbortSignal): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const text of strangeAddresses(service)) {
      const address = tryParseAddress(text);
      if (address === undefined) continue;
      const state = await this.#ledger.stateOf(address, signal);
      if (state === 'outside') continue;
      findings.push({
        kind: 'not-reserved',
        service: keyOf(service),
        uid: service.metadata?.uid ?? '',
        addresses: [address],
        message: `It shows an address of a shared pool (${state}) that it does not hold. Hand it over with the annotation causeway.dev/announcer, or give it another address.`,
      });
    }
    return findings;
  }
}

function isSame(grant: Grant, holding: Holding): boolean {
  const text = ({ addresses }: Pick<Holding, 'addresses'>) =>
    addresses
      .map(({ address }) => address)
      .sort()
      .join();
  return text(grant) === text(holding);
}
