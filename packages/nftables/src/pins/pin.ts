import type { Address } from '@causeway/base/address/address';
import { parsePort, type Port } from '@causeway/base/address/port';
import { protocolNumbers } from '../model/operands.ts';
import { elementId, type Element } from '../model/ruleset.ts';

/**
 * The fixed backend of one running TCP connection. A gateway that takes the connection over uses the pin
 * instead of the slots, which may have moved since the connection began.
 */
export interface Pin {
  readonly client: Address;
  readonly clientPort: Port;
  /** The virtual address and port that the client is connected to. */
  readonly address: Address;
  readonly port: Port;
  readonly backend: Address;
  readonly backendPort: Port;
}

/** Identifies the connection of a pin. */
export type PinKey = string & { readonly __pinKey: true };

export function pinKey(pin: Pick<Pin, 'client' | 'clientPort' | 'address' | 'port'>): PinKey {
  return elementId({ key: keyFields(pin) }) as PinKey;
}

export function pinElement(pin: Pin, timeoutSeconds: number): Element {
  return { key: keyFields(pin), value: [pin.backend, pin.backendPort], timeoutSeconds };
}

/** The pin in an element of the kernel; undefined if the element has another form. */
export function pinOf({ key, value }: Element): Pin | undefined {
  const [client, clientPort, address, protocol, port] = key;
  if (value === undefined || 'kind' in value || protocol !== protocolNumbers.TCP) return undefined;
  const [backend, backendPort] = value;
  if (typeof client !== 'string' || typeof address !== 'string' || typeof backend !== 'string') {
    return undefined;
  }
  return {
    client,
    clientPort: parsePort(Number(clientPort)),
    address,
    port: parsePort(Number(port)),
    backend,
    backendPort: parsePort(Number(backendPort)),
  };
}

/** Identifies the packets of a pin's backend to its client. */
export type ReversePinKey = string & { readonly __reversePinKey: true };

export function reversePinKey(pin: Pin): ReversePinKey {
  return elementId({ key: reverseFields(pin) }) as ReversePinKey;
}

/** The way back of a pin: the virtual address and port for the packets of the backend. */
export function reversePinElement(pin: Pin, timeoutSeconds: number): Element {
  return { key: reverseFields(pin), value: [pin.address, pin.port], timeoutSeconds };
}

/** The pin in an element of the map for the way back; undefined if the element has another form. */
export function reversePinOf({ key, value }: Element): Pin | undefined {
  const [backend, backendPort, client, clientPort] = key;
  if (value === undefined || 'kind' in value) return undefined;
  const [address, port] = value;
  if (typeof client !== 'string' || typeof address !== 'string' || typeof backend !== 'string') {
    return undefined;
  }
  return {
    client,
    clientPort: parsePort(Number(clientPort)),
    address,
    port: parsePort(Number(port)),
    backend,
    backendPort: parsePort(Number(backendPort)),
  };
}

function reverseFields({ backend, backendPort, client, clientPort }: Pin): Element['key'] {
  return [backend, backendPort, client, clientPort];
}

function keyFields({
  client,
  clientPort,
  address,
  port,
}: Pick<Pin, 'client' | 'clientPort' | 'address' | 'port'>): Element['key'] {
  return [client, clientPort, address, protocolNumbers.TCP, port];
}
