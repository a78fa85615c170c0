import type { Address } from '../../../packages/base/src/address/address.ts';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { Allocator } from '../../../packages/causeway/src/ipam/allocator.ts';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import type { Context } from '../../../packages/causeway/src/ipam/api/context.ts';
import type {
  AnswerOf,
  OperationName,
  RequestOf,
} from '../../../packages/causeway/src/ipam/api/operations.ts';
import { Heartbeats } from '../../../packages/causeway/src/ipam/heartbeats.ts';
import { LedgerMaintenance } from '../../../packages/causeway/src/ipam/maintenance.ts';
import { Platforms } from '../../../packages/causeway/src/ipam/platform/platforms.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import type {
  SimulatedProcess,
  Simulation,
} from '../../../packages/base/src/simulation/simulation.ts';
import { MemoryLedger } from '../../doubles/memory-ledger.ts';
import { askHandler } from '../ipam/ask.ts';
import { untilAborted } from '../../../packages/base/src/time/until-aborted.ts';

/** The allocator inside a simulation: the real handlers on a ledger in memory. It is never killed here. */
export class SimulatedIpam {
  /** Whether it is unreachable for clusters. */
  isCutOff = false;
  readonly #allocator: Allocator;
  readonly #never = new AbortController().signal;
  readonly #context: Omit<Context, 'signal'>;

  constructor({ clock }: Simulation) {
    const allocator = new Allocator({ ledger: new MemoryLedger(), clock, log: discardLog });
    this.#allocator = allocator;
    const options = { allocator, clock, log: discardLog };
    this.#context = {
      allocator,
      heartbeats: new Heartbeats(allocator),
      platforms: new Platforms({ ...options, drivers: new Map(), sweepEveryMs: 60_000 }),
      caller: 'system',
      needs: { kind: 'operator' },
    };
    void allocator.follower.run(this.#never);
    void new LedgerMaintenance({ ...options, auditRetentionMs: 10 ** 12 }).run(this.#never);
  }

  /** The client of a cluster's controller: each call is an outside call of its process. */
  client(process: SimulatedProcess): Pick<IpamClient, 'call'> {
    return {
      call: (name, input, signal) => {
        const answer = process.call(`ipam ${name}`, () => {
          if (this.isCutOff) throw new CausewayError('unavailable', 'cut off');
          return this.ask(name, input);
        });
        return untilAborted(answer, signal);
      },
    };
  }

  ask<Name extends OperationName>(name: Name, input: RequestOf<Name>): Promise<AnswerOf<Name>> {
    return askHandler({ ...this.#context, signal: this.#never }, name, input);
  }

  /** Every address that is not free: its owners, or the end of its quarantine. */
  addresses(): { address: Address; owners: readonly string[]; until: number | undefined }[] {
    const site = this.#allocator.view.site('edge');
    return [...(site?.addresses.values() ?? [])].map(({ record }) => {
      // Including those of a voided epoch, although their record still says that they are held.
      const until = site?.restOf(record.address);
      const isHeld = record.state === 'held' && until === undefined;
      const owners = isHeld ? record.owners.map(({ uid }) => uid) : [];
      return { address: record.address, owners, until };
    });
  }
}
