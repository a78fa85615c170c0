/**
 * `010.0.00.1/8` as `10.0.0.1/8`: older API servers take zeros before a decimal number. The first part
 * is left alone where it is not decimal, as in an IPv6 address that ends like an IPv4 address.
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
