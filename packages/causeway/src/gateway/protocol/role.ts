/**
 * The role of a gateway. It is the same for all addresses that the gateway announces.
 *
 * - `active`: the gateway receives the traffic of the addresses
 * - `standby`: the gateway is ready to become active
 * - `unable`: the gateway must not or can't become active; its status has the reason
 * - `foreign`: another system moves the addresses, so the agent does not know the role
 * - `unknown`: the agent does not know the role yet, or does not answer
 */
export type Role = 'active' | 'standby' | 'unable' | 'foreign' | 'unknown';

export const roles: readonly Role[] = ['active', 'standby', 'unable', 'foreign', 'unknown'];

/** The role for a table or a badge, with the reason if there is one. */
export function describeRole(role: string, reason: string | null): string {
  return reason === null ? role : `${role} (${reason})`;
}
