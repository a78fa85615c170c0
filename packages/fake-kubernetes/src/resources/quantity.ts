const pattern = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i)?$/;

const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const nano = 1_000_000_000n;

/**
 * The canonical form of a quantity: the shortest form with a whole number, so that `1000m` and `1` are equal.
 * Unsupported input is returned unchanged.
 */
export function canonicalQuantity(value: number | string): string {
  const text = String(value);
  const match = pattern.exec(text);
  if (match === null) return text;
  const [, sign = '', digits = '', suffix = ''] = match;
  const amount = inNano(digits, suffix);
  if (amount === 0n) return '0';
  const isBinary = suffix.endsWith('i') && amount % nano === 0n && amount / nano >= 1024n;
  return (sign === '-' ? '-' : '') + (isBinary ? binaryForm(amount / nano) : decimalForm(amount));
}

/** The amount in billionths, rounded up. This is the smallest unit of the API. */
function inNano(digits: string, suffix: string): bigint {
  const [whole = '', fraction = ''] = digits.split('.');
  const unscaled = BigInt(`${whole}${fraction}`);
  const binary = binarySuffixes.indexOf(suffix);
  const factor = suffix.endsWith('i') ? 1024n ** BigInt(binary) : 1n;
  const exponent =
    9 + (suffix.endsWith('i') ? 0 : (decimalExponents[suffix] ?? 0)) - fraction.length;
  const scaled = unscaled * factor;
  if (exponent >= 0) return scaled * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (scaled + divisor - 1n) / divisor;
}

function decimalForm(amount: bigint): string {
  const suffixes = Object.entries(decimalExponents).sort(([, a], [, b]) => b - a);
  for (const [suffix, exponent] of suffixes) {
    const unit = 10n ** BigInt(exponent + 9);
    if (amount % unit === 0n) return `${amount / unit}${suffix}`;
  }
  return `${amount}n`;
}

function binaryForm(amount: bigint): string {
  let rest = amount;
  let power = 0;
  while (rest % 1024n === 0n && power < binarySuffixes.length - 1) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${binarySuffixes[power] ?? ''}`;
}
