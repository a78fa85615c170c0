/**
 * Whether a loss is more likely a failure of the control plane than of the lost objects: more than half of all
 * objects at once. Causeway then keeps the lost objects in use and reports it.
 */
export function isMassLoss(lost: number, all: number): boolean {
  return lost > 0 && lost * 2 > all;
}
