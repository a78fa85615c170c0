import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';

/** At most one per family; none for headless and ExternalName Services. */
export function clusterAddresses({ spec }: Service): Address[] {
  if (spec === undefined || spec.type === 'ExternalName') return [];
  const texts = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  const byFamily = new Map<Family, Address>();
  for (const text of texts) {
    const address = tryParseAddress(text);
    if (address === undefined || byFamily.has(familyOf(address))) continue;
    byFamily.set(familyOf(address), address);
  }
  return [...byFamily.values()];
}
