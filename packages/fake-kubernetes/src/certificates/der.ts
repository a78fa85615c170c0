/** Distinguished encoding (DER) of ASN.1, limited to the needs of certificates. */
export type Der = Buffer;

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

function encode(tag: number, content: Buffer): Der {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...items: readonly Der[]): Der =>
  encode(tags.sequence, Buffer.concat(items));

export const setOf = (...items: readonly Der[]): Der => encode(tags.set, Buffer.concat(items));

export const boolean = (value: boolean): Der =>
  encode(tags.boolean, Buffer.from([value ? 0xff : 0x00]));

/** A non-negative integer from its bytes, most significant byte first. */
export function unsignedInteger(bytes: Uint8Array): Der {
  const firstSet = bytes.findIndex((byte) => byte !== 0);
  const trimmed = firstSet === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(firstSet));
  const isNegative = (trimmed[0] ?? 0) >= 0x80;
  return encode(tags.integer, isNegative ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export const octetString = (content: Uint8Array): Der =>
  encode(tags.octetString, Buffer.from(content));

/** A bit string. `unusedBits` is the number of unused bits at the end of the last byte. */
export const bitString = (content: Uint8Array, unusedBits = 0): Der =>
  encode(tags.bitString, Buffer.concat([Buffer.from([unusedBits]), content]));

export const utf8String = (text: string): Der => encode(tags.utf8String, Buffer.from(text, 'utf8'));

/** `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encode(
    tags.objectIdentifier,
    Buffer.from([first * 40 + second, ...rest.flatMap((part) => base128(part))]),
  );
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift((rest % 128) | 0x80);
  }
  return bytes;
}

/** A time before 2050, precise to the second. */
export function utcTime(millisecondsSince1970: number): Der {
  const digits = new Date(millisecondsSince1970).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return encode(tags.utcTime, Buffer.from(digits.slice(2), 'ascii'));
}

/** A value with a context-specific tag. `constructed` is true if the content consists of encoded values. */
export const tagged = (number: number, content: Uint8Array, constructed: boolean): Der =>
  encode((constructed ? 0xa0 : 0x80) | number, Buffer.from(content));
