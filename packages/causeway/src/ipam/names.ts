import { z } from 'zod';
import { tryParseAddress, type Address } from '@causeway/base/address/address';

/** Names become parts of keys and of metric labels: short, and without a slash. */
const label = /^[a-z0-9](?:[-a-z0-9.]{0,61}[a-z0-9])?$/;
const kubernetesName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const uid = /^[A-Za-z0-9](?:[-A-Za-z0-9._:]{0,126}[A-Za-z0-9])?$/;

const labelRule = 'must be 1 to 63 lower-case letters, digits, "-" and "."';
export const siteNameSchema = z.string().regex(label, `a site's name ${labelRule}`);
export const poolNameSchema = z.string().regex(label, `a pool's name ${labelRule}`);
export const clusterNameSchema = z.string().regex(label, `a cluster's name ${labelRule}`);
export const kubernetesNameSchema = z.string().regex(kubernetesName, 'not a Kubernetes name');
export const uidSchema = z.string().regex(uid, 'a UID is 1 to 128 of A-Z a-z 0-9 . _ : -');
export const identifierSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
export const sharingKeySchema = z.string().min(1).max(128);
export const reasonSchema = z.string().max(500);

export const addressSchema = z.string().transform((text, context): Address => {
  const address = tryParseAddress(text);
  if (address !== undefined) return address;
  context.addIssue({ code: 'custom', message: `${JSON.stringify(text)} is not an IP address` });
  return z.NEVER;
});

/** The address in a stored record is canonical already. */
export const storedAddressSchema = z.custom<Address>(
  (value) => typeof value === 'string' && tryParseAddress(value) === value,
  'not a canonical IP address',
);

export const familySchema = z.union([z.literal(4), z.literal(6)]);
export const millisecondsSchema = z
  .int()
  .min(0)
  .max(10 * 365 * 86_400_000);
