import type { RoleStatus } from '../role-status.ts';
import type { VrrpState } from './notify.ts';

/** Sets the gateway's role after keepalived's state. */
export function enterState(status: Pick<RoleStatus, 'enter'>, state: VrrpState): void {
  switch (state) {
    case 'MASTER':
      return status.enter('active');
    case 'BACKUP':
      return status.enter('standby');
    case 'FAULT':
      return status.enter('unable', 'keepalived reports a fault');
    case 'STOP':
      return status.enter('unable', 'keepalived does not run');
    default:
      return state satisfies never;
  }
}
