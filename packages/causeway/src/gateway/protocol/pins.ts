import { z } from 'zod';
import { familyOf, parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { frontendKey, type FrontendKey } from './frontend.ts';
import { parseFrontendId } from './records.ts';
import type { Pin } from '@causeway/nftables/pins/pin';

/** A version of one agent's pins. An agent that starts again has another epoch. */
export interface PinCursor {
  readonly epoch: string;
  readonly version: number;
}

/** A change of pins. */
export interface PinSet {
  readonly set: readonly Pin[];
  readonly removed: readonly Pin[];
}

/** The changes of an agent's pins since a cursor. */
export interface PinDelta extends PinSet {
  readonly cursor: PinCursor;
}

/** Pins in one request to an agent. */
export const pinsAtOnce = 10_000;

const cursor = z.object({ epoch: z.string().max(100), version: z.number().int().min(0) });
const pins = z.array(z.string().max(250)).max(1_000_000);

export const collectBody = z.object({ since: cursor.optional() });
export const pinsBody = z.object({ set: pins.max(pinsAtOnce), removed: pins.max(pinsAtOnce) });
const delta = z.looseObject({ cursor, set: pins, removed: pins });

/** `client port address port backend port`. */
export function formatPin(pin: Pin): string {
  const { client, clientPort, address, port, backend, backendPort } = pin;
  return [client, clientPort, address, port, backend, backendPort].join(' ');
}

export function parsePin(text: string): Pin {
  const [client = '', clientPort, address = '', port, backend = '', backendPort, ...rest] =
    text.split(' ');
  const pin = {
    client: parseAddress(client),
    clientPort: parsePort(Number(clientPort)),
    address: parseAddress(address),
    port: parsePort(Number(port)),
    backend: parseAddress(backend),
    backendPort: parsePort(Number(backendPort)),
  };
  const family = familyOf(pin.address);
  if (rest.length > 0 || familyOf(pin.client) !== family || familyOf(pin.backend) !== family) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not a pin`);
  }
  return pin;
}

export function formatDelta({ cursor: at, set, removed }: PinDelta) {
  return { cursor: at, set: set.map(formatPin), removed: removed.map(formatPin) };
}

/** The frontends with connections that an update moves. */
export function readMoved(value: unknown): ReadonlySet<FrontendKey> {
  const parsed = z.looseObject({ moved: z.array(z.unknown()) }).safeParse(value);
  if (!parsed.success) throw new CausewayError('unavailable', "the agent's answer is invalid");
  return new Set(parsed.data.moved.map((id) => frontendKey(parseFrontendId(id))));
}

export function readDelta(value: unknown): PinDelta {
  const parsed = delta.safeParse(value);
  if (!parsed.success) throw new CausewayError('unavailable', "the agent's pins are invalid");
  const { cursor: at, set, removed } = parsed.data;
  return { cursor: at, set: set.map(parsePin), removed: removed.map(parsePin) };
}
