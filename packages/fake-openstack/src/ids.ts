import { randomBytes, randomUUID } from 'node:crypto';

/** Neutron's and Octavia's ids. */
export function newUuid(): string {
  return randomUUID();
}

/** Keystone's ids: the same without dashes. */
export function newHexId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Long enough that nobody guesses it, with the look of a Fernet token. */
export function newTokenId(): string {
  return `gAAAAAB${randomBytes(96).toString('base64url')}`;
}

export function newSecret(): string {
  return randomBytes(64).toString('base64url');
}

export function newAuditId(): string {
  return randomBytes(16).toString('base64url');
}

/** A MAC address with the prefix that Neutron gives its ports. */
export function newMacAddress(): string {
  const [a = 0, b = 0, c = 0] = randomBytes(3);
  return `fa:16:3e:${[a, b, c].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;
}
