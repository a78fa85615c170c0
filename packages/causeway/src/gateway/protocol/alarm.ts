/**
 * - `two-masters`: another gateway sends adverts while this one is master
 * - `forged-adverts`: VRRP adverts arrive that no peer sent, and are dropped
 * - `duplicate-address`: another machine uses an address that this gateway holds
 * - `cut-off`: no backend and no node answers this gateway
 * - `link-down`: a link to clients or nodes is down, so this gateway serves nothing
 * - `addresses-missing`: this gateway is master and lacks addresses that it should hold
 * - `degraded`: the kernel may differ from the accepted configuration
 * - `bad-health`: this machine cannot serve, and has given up its addresses or would
 * - `removals-withheld`: frontends are still served because their removal is not confirmed
 */
export type AlarmName =
  | 'two-masters'
  | 'forged-adverts'
  | 'duplicate-address'
  | 'cut-off'
  | 'link-down'
  | 'addresses-missing'
  | 'degraded'
  | 'bad-health'
  | 'removals-withheld';

const outages: readonly AlarmName[] = ['link-down', 'bad-health'];

/** Whether an alarm of a status means that its gateway does not serve clients. */
export function isOutage(alarm: string): boolean {
  return outages.some((name) => alarm.startsWith(`${name}: `));
}
