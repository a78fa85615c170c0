import type { RoleStatus } from '../role-status.ts';
import type { VrrpState } from './notify.ts';

/** keepalived does not say why it has a fault: a link is down, or the agent has set the fault. */
export const faultReason = 'keepalived reports a fault; a link may be down';

/** Sets the gateway's role after keepalived's state. */
export function enterState(status: Pick<RoleStatus, 'enter'>, state: VrrpState): void {
  switch (state) {
    case 'MASTER':
      return status.enter('active');
    case 'BACKUP':
      return status.enter('standby');
    case 'FAULT':
      return status.enter('unable', faultReason);
    case 'STOP':
      return status.enter('unable', 'keepalived does not run');
    default:
      return state satisfies never;
  }
}
