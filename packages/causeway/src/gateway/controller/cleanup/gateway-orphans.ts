import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { OrphanRegister } from '../../../services/orphan-register.ts';
import type { Orphan } from '../../../services/orphan.ts';
import type { Fencing } from '../fencing/fencing.ts';
import type { PortKeeper } from '../ports/port-keeper.ts';
import type { PortManager } from '../ports/port-manager.ts';
import type { L2Port } from '../ports/port-slot.ts';

export interface GatewayOrphansOptions {
  readonly keeper: PortKeeper;
  readonly manager: PortManager;
  readonly fencing: Pick<Fencing, 'mayGo' | 'letGo'>;
  readonly register: Pick<OrphanRegister, 'report' | 'deleted'>;
  readonly log: Log;
}

/**
 * Neutron ports and floating IPs that no Service uses: lists them, and deletes them after an operator's
 * confirmation.
 */
export class GatewayOrphans {
  readonly #options: GatewayOrphansOptions;

  constructor(options: GatewayOrphansOptions) {
    this.#options = options;
  }

  async check(signal: AbortSignal): Promise<void> {
    const { keeper, manager, register } = this.#options;
    const held = new Map(keeper.held().map((port) => [port.id, port]));
    const found = manager.orphans();
    const orphans = [...[...held.values()].map(toOrphan), ...found.orphans];
    const confirmed = await register.report({ ...found, orphans }, signal);
    for (const orphan of orphans) {
      if (!confirmed.has(orphan.id)) continue;
      if (await this.#delete(orphan, held.get(orphan.id), signal)) register.deleted(orphan);
    }
  }

  async #delete(orphan: Orphan, port: L2Port | undefined, signal: AbortSignal): Promise<boolean> {
    const { keeper, manager, fencing, log } = this.#options;
    const { kind, id, address } = orphan;
    try {
      if (port === undefined) await manager.deleteOrphan(orphan, signal);
      else {
        // As for any port: only after every gateway has confirmed a state without the address, or is fenced.
        if (!fencing.mayGo(port.address)) return false;
        await fencing.letGo(port.address, signal);
        await keeper.retire(port, signal);
      }
      log.warn({ kind, id, address }, "deleted an orphan after an operator's confirmation");
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ error: CausewayError.from(error), kind, id }, 'could not delete the orphan');
      return false;
    }
  }
}

function toOrphan({ id, publicAddress }: L2Port): Orphan {
  return { kind: 'port', id, address: publicAddress, mark: 'own' };
}
