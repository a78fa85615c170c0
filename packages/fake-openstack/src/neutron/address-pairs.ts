import { tryParseAddress } from '@causeway/base/address/address';
import { parseInterface } from '@causeway/base/address/prefix';
import { isObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { badRequest, conflict } from './refusals.ts';
import type { AddressPairRow } from './rows.ts';

/** Parses `allowed_address_pairs`, without the checks that depend on the Neutron port. */
export function readAddressPair(
  _name: string,
  value: unknown,
): { ip: string; mac: string | undefined } {
  const { ip_address, mac_address } = isObject(value) ? (value as Record<string, unknown>) : {};
  if (typeof ip_address !== 'string' || !isAddressOrNetwork(ip_address)) {
    throw badRequest(`'${String(ip_address)}' is not a valid IP address`);
  }
  return {
    ip: ip_address,
    mac: typeof mac_address === 'string' ? mac_address.toLowerCase() : undefined,
  };
}

/**
 * Checks the address pairs of a Neutron port. Pairs without a MAC address get the MAC address of the port.
 */
export function addressPairs(
  pairs: readonly ReturnType<typeof readAddressPair>[],
  portMac: string,
  maximum: number,
): AddressPairRow[] {
  if (pairs.length > maximum) {
    throw new Refusal(400, `The number of allowed address pair exceeds the maximum ${maximum}.`, {
      type: 'AllowedAddressPairExhausted',
    });
  }
  const seen = new Set<string>();
  return pairs.map(({ ip, mac }) => {
    const key = `${mac ?? ''} ${ip}`;
    if (seen.has(key)) {
      throw new Refusal(
        400,
        `Request contains duplicate address pair: mac_address ${mac ?? 'None'} ip_address ${ip}.`,
        { type: 'DuplicateAddressPairInRequest' },
      );
    }
    seen.add(key);
    return { mac_address: mac ?? portMac, ip_address: ip };
  });
}

export function pairsNeedPortSecurity(): Refusal {
  return conflict(
    'AddressPairAndPortSecurityRequired',
    'Port Security must be enabled in order to have allowed address pairs on a port.',
  );
}

function isAddressOrNetwork(text: string): boolean {
  if (tryParseAddress(text) !== undefined) return true;
  try {
    parseInterface(text);
    return true;
  } catch {
    return false;
  }
}
