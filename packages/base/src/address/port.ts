import { CausewayError } from '../error/causeway-error.ts';
import { quoted } from '../text/text-limit.ts';

declare const portBrand: unique symbol;

/** A transport port, 1 to 65535. */
export type Port = number & { readonly [portBrand]: true };

export const protocols = ['TCP', 'UDP', 'SCTP'] as const;
/** A transport protocol as Kubernetes spells it. */
export type Protocol = (typeof protocols)[number];

export function parsePort(value: number): Port {
  if (!Number.isInteger(value) || value < 1 || value > 65535) {
    throw new CausewayError(
      'invalid',
      `${value} is not a port: ports are whole numbers from 1 to 65535`,
    );
  }
  return value as Port;
}

export function parseProtocol(text: string): Protocol {
  const protocol = protocols.find((candidate) => candidate === text);
  if (protocol === undefined) {
    throw new CausewayError(
      'invalid',
      `${quoted(text)} is not a protocol: use ${protocols.join(', ')}`,
    );
  }
  return protocol;
}
