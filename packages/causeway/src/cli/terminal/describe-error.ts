import type { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';

/**
 * The problem and the fix. They may contain texts of clouds, gateways and API servers, so terminal controls
 * are removed.
 */
export function describeError({ message, hint }: CausewayError): string {
  const lines = hint === undefined ? [message] : [message, `  ${hint}`];
  return `causeway: ${printableLines(lines.join('\n'))}\n`;
}
