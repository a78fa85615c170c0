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
  findPending,
  strangeAddresses,
  type Finding,
} from './ledger-comparison.ts';
import type { Grant, PoolLedger } from './pool-ledger.ts';
import { readPoolServiceSpec } from './service-spec.ts';

const fieldManager = 'causeway-controller';
const mostAttempts = 5;

export interface Repair {
  readonly finding: Finding;
  /** The result, or why nothing was done. */
  readonly outcome: string;
}

/** Finds differences between the cluster and the ledger, and repairs those that are safe to repair. */
export class LedgerCheck {
  readonly #client: KubeClient;
  readonly #ledger: PoolLedger;

  readonly #releases: PendingReleases;

  constructor(client: KubeClient, ledger: PoolLedger, releases: PendingReleases) {
    this.#client = client;
    this.#ledger = ledger;
    this.#releases = releases;
  }

  async findings(
    signal: AbortSignal,
    listener = nobodyListens,
  ): Promise<{ findings: Finding[]; reservations: number }> {
    // In this order: a reservation without a Service stays without one.
    const reservations = await this.#ledger.reservations(signal);
    const present: Service[] = [];
    for await (const service of this.#client.list(services, { signal })) {
      present.push(withSlimMetadata(service));
    }
    const releasing = await this.#releases.list(signal);
    const uids = new Set(releasing.map(({ uid }) => uid));
    const findings = [
      ...compareWithLedger(reservations, present, uids),
      ...findPending(reservations, releasing),
    ];
    listener.begin('Checking', present.length);
    for (const service of present) {
      findings.push(...(await this.#notReserved(service, signal)));
      listener.step(keyOf(service));
    }
    const count = reservations.filter(({ purpose }) => purpose === 'load-balancer').length;
    return { findings, reservations: count };
  }

  /**
   * Frees leaked reservations and reserves lost ones again. Refuses to free more than half of the cluster's
   * reservations without `all`: the kubeconfig may belong to another cluster than the credential.
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
        `${leaked.length} of ${reservations} reservations have no Service in this cluster: nothing was repaired`,
        {
          hint: 'Check that the kubeconfig and the credential belong to the same cluster. To free the reservations anyway, use --all.',
        },
      );
    }
    const repairs: Repair[] = [];
    listener.begin('Repairing', findings.length);
    for (const finding of findings) {
      repairs.push({ finding, outcome: await this.#repairOne(finding, signal) });
      listener.step(finding.service);
    }
    return repairs;
  }

  async #repairOne(finding: Finding, signal: AbortSignal): Promise<string> {
    try {
      switch (finding.kind) {
        case 'leaked':
          await this.#ledger.delete(finding.uid, finding.fencingToken ?? 0, false, signal);
          return 'freed; the address is in quarantine before it is assigned again';
        case 'not-in-ledger':
          return await this.#reserveAgain(finding, signal);
        case 'releasing':
        case 'leaked-but-shown':
        case 'other-address':
        case 'not-announced':
        case 'not-reserved':
          return 'not changed';
      }
    } catch (error) {
      const { message } = CausewayError.from(error);
      return `not repaired: ${message}`;
    }
  }

  /** Writes the current fencing token to the Service, because the release uses it. */
  async #reserveAgain(finding: Finding, signal: AbortSignal): Promise<string> {
    const [namespace = '', name = ''] = finding.service.split('/');
    for (let attempt = 1; ; attempt += 1) {
      const service = await this.#client.find(services, { namespace, name }, { signal });
      if (service?.metadata?.uid !== finding.uid) return 'the Service does not exist any more';
      const holding = readHolding(service);
      const reading = readPoolServiceSpec(service, holding);
      if (reading.kind === 'refused') return `not repaired: ${reading.message}`;
      const grant = await this.#ledger.ensure(finding.uid, reading.spec.demand, signal);
      if (grant === undefined) return 'waits for an address';
      // The Service holds other addresses now. The controller announces and writes them.
      if (holding === undefined || !isSame(grant, holding)) return 'held again';
      try {
        await this.#note(service, { ...holding, fencingToken: grant.fencingToken }, signal);
        return 'held again';
      } catch (error) {
        // A concurrent write may have changed the holding.
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

  /** A user may have set an address of the shared pool by hand, without a reservation. */
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
        message: `The Service shows an address of a shared pool (${state}) without a reservation. Hand the Service over with the annotation causeway.dev/announcer, or assign another address.`,
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
