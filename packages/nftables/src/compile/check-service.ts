import { familyOf } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { prefixFamily } from '@causeway/base/address/prefix';
import { serviceKey, type VirtualService } from './virtual-service.ts';

const heaviest = 65_535;
const longestAffinitySeconds = 86_400;
const highestLogGroup = 65_535;

/** Throws `invalid` if the kernel does not support the service. */
export function checkService(service: VirtualService): void {
  const complaint = complaintAbout(service);
  if (complaint === undefined) return;
  throw new CausewayError('invalid', `the service ${serviceKey(service)} ${complaint}`);
}

function complaintAbout(service: VirtualService): string | undefined {
  const family = familyOf(service.address);
  const { affinity, dispatch, sourceRanges } = service;
  if (affinity?.kind === 'client-timeout' && !isWhole(affinity.seconds, longestAffinitySeconds)) {
    return `has the affinity timeout ${affinity.seconds} s: use 1 to ${longestAffinitySeconds}`;
  }
  const foreign = sourceRanges?.find((range) => prefixFamily(range) !== family);
  if (foreign !== undefined) {
    return `has the source range ${foreign.address}/${foreign.length} of the other address family`;
  }
  if (dispatch.kind === 'hold' && !isWhole(dispatch.logGroup, highestLogGroup)) {
    return `holds packets in the log group ${dispatch.logGroup}: use 1 to ${highestLogGroup}`;
  }
  if (dispatch.kind === 'nodes-unchanged') {
    const other = dispatch.nodes?.find((node) => familyOf(node) !== family);
    return other === undefined ? undefined : `is sent to the node ${other} of the other family`;
  }
  if (dispatch.kind !== 'slots') return undefined;
  if (service.insideBackends?.length === 0) return 'has no backend for clients from inside';
  const backends = [...dispatch.backends, ...(service.insideBackends ?? [])];
  for (const { address, weight = 1 } of backends) {
    if (familyOf(address) !== family) return `has the backend ${address} of the other family`;
    if (!isWhole(weight, heaviest)) {
      return `gives ${address} the weight ${weight}: use 1 to ${heaviest}`;
    }
  }
  return undefined;
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}
