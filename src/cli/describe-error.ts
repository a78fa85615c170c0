import type { CausewayError } from '../domain/error.ts';
import { printableLines } from '../domain/printable.ts';

/** What was wrong and what to do. Clouds, gateways and API servers have their say in it, and steer no terminal. */
export function describeError({ message, hint }: CausewayError): string {
  const lines = hint === undefined ? [message] : [message, `  ${hint}`];
  return `causeway: ${printableLines(lines.join('\n'))}\n`;
}
