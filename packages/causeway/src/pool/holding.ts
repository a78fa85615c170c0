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
import { fromLegacyFence } from './legacy.ts';
import { announcerNames, announcers, type AnnouncerName } from './announcer.ts';

export interface HeldAddress {
  /** The announced address. */
  readonly address: Address;
  /** The address that clients reach, if the network translates it. */
  readonly publicAddress?: Address | undefined;
}

/**
 * The reservation of a Service in the shared ledger. It is written to the Service together with the
 * announcer's annotations, so that neither exists without the other. It suffices to continue while the ledger
 * is unreachable.
 */
export interface Holding {
  /** The UID of the Service it was written for. A copy of the annotation on another Service is ignored. */
  readonly uid: string;
  /** Empty after the Service lost its addresses. */
  readonly addresses: readonly HeldAddress[];
  readonly fencingToken: number;
  readonly announcer: AnnouncerName;
  /** Since when it must not be announced, in milliseconds; undefined while it may be. */
  readonly stoppedAt?: number | undefined;
  /** The fields of type LoadBalancer, while the Service has another type because it must not be announced. */
  readonly kept?: KeptSpec | undefined;
  /** How often the announcement was repeated because the announcer showed another address. */
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
  fencingToken: z.number(),
  announcer: z.enum(announcerNames),
  stoppedAt: z.number().optional(),
  kept: keptSchema.optional(),
  reminders: z.number().optional(),
});

/** Undefined for a Service without a readable holding. The ledger then has the truth. */
export function readHolding(service: Service): Holding | undefined {
  const text = service.metadata?.annotations?.[holdingAnnotation];
  if (text === undefined || text.length > textLimits.record) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = holdingSchema.safeParse(fromLegacyFence(value));
  if (!parsed.success || parsed.data.uid !== service.metadata?.uid) return undefined;
  const { version: _, ...holding } = parsed.data;
  return holding;
}

/** Which component writes the status of a Service. */
export function statusWriterOf(service: Service): 'controller' | 'announcer' {
  const holding = readHolding(service);
  return holding === undefined ? 'controller' : announcers[holding.announcer].statusWriter;
}

export function formatHolding(holding: Holding): string {
  const { uid, addresses, fencingToken, announcer, stoppedAt, kept, reminders } = holding;
  const version = holdingVersion;
  const state = { addresses, fencingToken, stoppedAt, kept, reminders };
  return JSON.stringify({ version, uid, announcer, ...state });
}

/**
 * The same holding, marked as not to be announced since the first such decision. Only the ledger can end
 * that.
 */
export function stopped(holding: Holding, now: number): Holding {
  return { ...holding, stoppedAt: holding.stoppedAt ?? now };
}

/** Nodes do not receive packets for a translated address, so it is no VIP to the nodes. */
export function ingressOf({ addresses }: Pick<Holding, 'addresses'>): Ingress[] {
  return addresses.map(({ address, publicAddress }) =>
    publicAddress === undefined
      ? { ip: address, ipMode: 'VIP' }
      : { ip: publicAddress, ipMode: 'Proxy' },
  );
}

/** The addresses that a Service with these families shows. Addresses of other families are being released. */
export function inFamilies(
  addresses: readonly HeldAddress[],
  families: readonly Family[],
): HeldAddress[] {
  return addresses.filter(({ address }) => families.includes(familyOf(address)));
}
