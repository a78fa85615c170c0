import { randomBytes, randomUUID } from 'node:crypto';

/** An ID in the format of Neutron and Octavia. */
export function newUuid(): string {
  return randomUUID();
}

/** An ID in the format of Keystone: a UUID without dashes. */
export function newHexId(): string {
  return randomUUID().replaceAll('-', '');
}

/** A token that is too long to guess, in the format of a Fernet token. */
export function newTokenId(): string {
  return `gAAAAAB${randomBytes(96).toString('base64url')}`;
}

export function newSecret(): string {
  return randomBytes(64).toString('base64url');
}

export function newAuditId(): string {
  return randomBytes(16).toString('base64url');
}

/** A MAC address with the prefix of Neutron ports. */
export function newMacAddress(): string {
  const [a = 0, b = 0, c = 0] = randomBytes(3);
  return `fa:16:3e:${[a, b, c].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;
}
