import { z } from 'zod';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Ingress } from '../services/provider.ts';
import { holdingAnnotation } from './annotations.ts';
import { announcerNames, announcers, type AnnouncerName } from './announcer.ts';

export interface HeldAddress {
  /** What is announced. */
  readonly address: Address;
  /** What clients reach, where something in between translates it. */
  readonly publicAddress?: Address | undefined;
}

/**
 * What a Service holds in the shared ledger. It is written to the Service together with what the
 * announcer is told, so that neither is there without the other, and it is all that is needed to go
 * on while the ledger can't be reached.
 */
export interface Holding {
  /** The Service it was written for: a copy of the annotation on another Service means nothing. */
  readonly uid: string;
  /** None after it lost what it had. */
  readonly addresses: readonly HeldAddress[];
  readonly fence: number;
  readonly announcer: AnnouncerName;
  /** Since when it is no longer to be announced, in milliseconds; undefined while it is. */
  readonly stoppedAt?: number | undefined;
  /** What it was as a load balancer, while it is not one because it must not be announced. */
  readonly kept?: KeptSpec | undefined;
  /** How often the announcer was told the same again, because it showed something else. */
  readonly reminders?: number | undefined;
}

export type KeptSpec = z.infer<typeof keptSchema>;

const keptSchema = z.object({
  loadBalancerClass: z.string().optional(),
  loadBalancerSourceRanges: z.array(z.string()).optional(),
  allocateLoadBalancerNodePorts: z.boolean().optional(),
});

const holdingVersion = 1;

const address = z.custom<Address>(
  (value) => typeof value === 'string' && tryParseAddress(value) === value,
);

const holdingSchema = z.object({
  version: z.literal(holdingVersion),
  uid: z.string(),
  addresses: z.array(z.object({ address, publicAddress: address.optional() })).max(2),
  fence: z.number(),
  announcer: z.enum(announcerNames),
  stoppedAt: z.number().optional(),
  kept: keptSchema.optional(),
  reminders: z.number().optional(),
});

/** Undefined for a Service that holds nothing as far as can be read; the ledger then knows better. */
export function readHolding(service: Service): Holding | undefined {
  const text = service.metadata?.annotations?.[holdingAnnotation];
  if (text === undefined || text.length > textLimits.record) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = holdingSchema.safeParse(value);
  if (!parsed.success || parsed.data.uid !== service.metadata?.uid) return undefined;
  const { version: _, ...holding } = parsed.data;
  return holding;
}

/** Who writes the status of a Service: whoever announces what it holds, or we. */
export function statusWriterOf(service: Service): 'controller' | 'announcer' {
  const holding = readHolding(service);
  return holding === undefined ? 'controller' : announcers[holding.announcer].statusWriter;
}

export function formatHolding(holding: Holding): string {
  const { uid, addresses, fence, announcer, stoppedAt, kept, reminders } = holding;
  const version = holdingVersion;
  const state = { addresses, fence, stoppedAt, kept, reminders };
  return JSON.stringify({ version, uid, announcer, ...state });
}

/** The same, no longer to be announced, since when that was first said: only the ledger's word ends it. */
export function stopped(holding: Holding, now: number): Holding {
  return { ...holding, stoppedAt: holding.stoppedAt ?? now };
}

/** Behind a translated address nobody receives packets for it, so it is no VIP to the nodes. */
export function ingressOf({ addresses }: Pick<Holding, 'addresses'>): Ingress[] {
  return addresses.map(({ address, publicAddress }) =>
    publicAddress === undefined
      ? { ip: address, ipMode: 'VIP' }
      : { ip: publicAddress, ipMode: 'Proxy' },
  );
}

/** Those that a Service of these families shows: what it has of others is on its way back. */
export function inFamilies(
  addresses: readonly HeldAddress[],
  families: readonly Family[],
): HeldAddress[] {
  return addresses.filter(({ address }) => families.includes(familyOf(address)));
}
