import type { Operand } from '../../model/expression.ts';

/** The number of four-byte registers of an operand. */
export function registersOf(operand: Operand): number {
  const isAddress =
    operand.kind === 'source' ||
    operand.kind === 'destination' ||
    operand.kind === 'original-destination';
  return isAddress && operand.family === 6 ? 4 : 1;
}

/** Conntrack flags and address types use the machine's byte order, all other numbers that of the network. */
export function numberBytes(operand: Operand, value: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size);
  const inMachineOrder = ['connection-state', 'connection-status', 'source-type'];
  if (inMachineOrder.includes(operand.kind)) {
    bytes.writeUInt32LE(value);
  } else {
    bytes.writeUIntBE(value, 0, size);
  }
  return bytes;
}
