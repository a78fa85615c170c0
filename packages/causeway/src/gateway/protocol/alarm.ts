/**
 * Alarms of an agent. An announcer adds its own.
 *
 * - `cut-off`: no backend of an address family answers this gateway
 * - `link-down`: a link to clients or nodes is down, so this gateway serves nothing
 * - `addresses-missing`: this gateway is active and lacks addresses that it should hold
 * - `degraded`: the kernel may differ from the accepted configuration
 * - `bad-health`: this machine cannot serve, and has given up its addresses or would
 * - `removals-withheld`: frontends are still served because their removal is not confirmed
 * - `state-damaged`: a state file can't be read, and this gateway waits for an update or a decision
 * - `state-not-stored`: the disk accepts no writes, so a restart would lose accepted changes
 */
export type AlarmName =
  | 'cut-off'
  | 'link-down'
  | 'addresses-missing'
  | 'degraded'
  | 'bad-health'
  | 'removals-withheld'
  | 'state-damaged'
  | 'state-not-stored';

const outages: readonly AlarmName[] = ['link-down', 'bad-health'];

/** Whether an alarm, as a status lists it, says that its gateway reaches no backend of an address family. */
export function isCutOff(alarm: string): boolean {
  return alarm.startsWith('cut-off: ');
}

/** Whether an alarm, as a status lists it, says that its gateway does not serve clients. */
export function isOutage(alarm: string): boolean {
  return outages.some((name) => alarm.startsWith(`${name}: `));
}
