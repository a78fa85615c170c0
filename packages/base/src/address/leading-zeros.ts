/**
 * Rewrites `010.0.00.1/8` as `10.0.0.1/8`: older API servers accept zeros before a decimal number. A first
 * part that is not decimal stays unchanged, as in an IPv6 address with an IPv4 address at its end.
 */
export function withoutLeadingZeros(text: string): string {
  return text
    .split('.')
    .map((part, index) => (index > 0 || /^\d+$/.test(part) ? trimmed(part) : part))
    .join('.');
}

function trimmed(part: string): string {
  let start = 0;
  while (part[start] === '0' && /^\d$/.test(part[start + 1] ?? '')) start += 1;
  return part.slice(start);
}
