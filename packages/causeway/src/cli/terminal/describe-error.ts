import type { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';

/** What was wrong and what to do. Clouds, gateways and API servers have their say in it, and steer no terminal. */
export function describeError({ message, hint }: CausewayError): string {
  const lines = hint === undefined ? [message] : [message, `  ${hint}`];
  return `causeway: ${printableLines(lines.join('\n'))}\n`;
}
