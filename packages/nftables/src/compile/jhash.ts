/**
 * Bob Jenkins' lookup3 in the form of the kernel's jhash(), so that the packet tracer can compute the
 * kernel's slot. The byte order of the words is that of the machine; all supported machines are
 * little-endian.
 */
export function jhash(key: Uint8Array, seed: number): number {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  let left = key.length;
  const state: State = { a: 0, b: 0, c: 0 };
  state.a = state.b = state.c = (0xdeadbeef + left + seed) | 0;
  let offset = 0;
  while (left > 12) {
    state.a = (state.a + view.getUint32(offset, true)) | 0;
    state.b = (state.b + view.getUint32(offset + 4, true)) | 0;
    state.c = (state.c + view.getUint32(offset + 8, true)) | 0;
    mix(state);
    left -= 12;
    offset += 12;
  }
  if (left === 0) return state.c >>> 0;
  state.a = (state.a + tailWord(key, offset, left)) | 0;
  state.b = (state.b + tailWord(key, offset + 4, left - 4)) | 0;
  state.c = (state.c + tailWord(key, offset + 8, left - 8)) | 0;
  finish(state);
  return state.c >>> 0;
}

/** The kernel's mapping of a 32-bit hash to 0 .. modulus - 1, by its high bits. */
export function scaleHash(hash: number, modulus: number): number {
  return Number((BigInt(hash) * BigInt(modulus)) >> 32n);
}

interface State {
  a: number;
  b: number;
  c: number;
}

function tailWord(key: Uint8Array, offset: number, left: number): number {
  let word = 0;
  for (let index = 0; index < Math.min(left, 4); index += 1) {
    word |= (key[offset + index] ?? 0) << (8 * index);
  }
  return word;
}

const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));

function mix(s: State): void {
  s.a = ((s.a - s.c) ^ rotate(s.c, 4)) | 0;
  s.c = (s.c + s.b) | 0;
  s.b = ((s.b - s.a) ^ rotate(s.a, 6)) | 0;
  s.a = (s.a + s.c) | 0;
  s.c = ((s.c - s.b) ^ rotate(s.b, 8)) | 0;
  s.b = (s.b + s.a) | 0;
  s.a = ((s.a - s.c) ^ rotate(s.c, 16)) | 0;
  s.c = (s.c + s.b) | 0;
  s.b = ((s.b - s.a) ^ rotate(s.a, 19)) | 0;
  s.a = (s.a + s.c) | 0;
  s.c = ((s.c - s.b) ^ rotate(s.b, 4)) | 0;
  s.b = (s.b + s.a) | 0;
}

function finish(s: State): void {
  s.c = ((s.c ^ s.b) - rotate(s.b, 14)) | 0;
  s.a = ((s.a ^ s.c) - rotate(s.c, 11)) | 0;
  s.b = ((s.b ^ s.a) - rotate(s.a, 25)) | 0;
  s.c = ((s.c ^ s.b) - rotate(s.b, 16)) | 0;
  s.a = ((s.a ^ s.c) - rotate(s.c, 4)) | 0;
  s.b = ((s.b ^ s.a) - rotate(s.a, 14)) | 0;
  s.c = ((s.c ^ s.b) - rotate(s.b, 24)) | 0;
}
