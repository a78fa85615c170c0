import { z } from 'zod';
import {
  clusterNameSchema,
  familySchema,
  identifierSchema,
  kubernetesNameSchema,
  millisecondsSchema,
  poolNameSchema,
  sharingKeySchema,
  siteNameSchema,
  storedAddressSchema,
  uidSchema,
} from './names.ts';

/**
 * What the ledger keeps, one record a key. Records are loose: a field that a newer replica wrote is
 * kept by an older one that rewrites the record, so replicas one version apart share a ledger.
 */

export const purposes = ['control-plane', 'load-balancer'] as const;
export const purposeSchema = z.enum(purposes);
export type Purpose = (typeof purposes)[number];

/** Who may announce a pool's addresses. `node` is none of them: it announces a node's own address. */
export const poolAnnouncers = ['kube-vip', 'metallb', 'cilium', 'purelb', 'plain'] as const;

export const poolSpecSchema = z.looseObject({
  name: poolNameSchema,
  /** Addresses, ranges `a-b` and networks; network and broadcast of a network are left out. */
  addresses: z.array(z.string().max(100)).min(1).max(1000),
  exclude: z.array(z.string().max(100)).max(1000).default([]),
  /** Routers on the network. Never handed out. */
  gateways: z.array(z.string().max(100)).max(16).default([]),
  /** The networks that ranges lie in, so that their network and broadcast addresses are known. */
  subnets: z.array(z.string().max(100)).max(64).default([]),
  /** Higher goes first. */
  priority: z.int().min(-1000).max(1000).default(0),
  labels: z.record(z.string().max(63), z.string().max(63)).default({}),
  purposes: z
    .array(purposeSchema)
    .min(1)
    .max(2)
    .default([...purposes]),
  /** Who announces its addresses; clusters find out if it isn't said. A newer version may know more of them. */
  announcer: z.string().max(63).optional(),
  /** The platform, of the servers' settings, that has to know of an address before it can be used. */
  platform: z.string().max(63).optional(),
  /** A drained pool hands out nothing; who holds an address of it keeps it. */
  drained: z.boolean().default(false),
});
export type PoolSpec = z.infer<typeof poolSpecSchema>;

/** Whether it is drained stays as it is unless it is said. */
const poolChangeSchema = poolSpecSchema.extend({ drained: z.boolean().optional() });
export type PoolChange = z.infer<typeof poolChangeSchema>;

export const siteSettingsSchema = z.looseObject({
  /** How long a freed address rests whose withdrawal was seen. */
  quarantineMs: millisecondsSchema.default(60_000),
  /** How long it rests if nobody saw that it is no longer announced. */
  unconfirmedQuarantineMs: millisecondsSchema.default(600_000),
  /** How long a freed address waits for a Service of the same cluster, namespace and name. */
  keepMs: millisecondsSchema.default(0),
  /** Addresses that a cluster without a quota of its own may hold. */
  defaultQuota: z.int().min(0).max(1_000_000).optional(),
  /** Without a heartbeat for so long a cluster is shown as lost. It keeps its addresses. */
  lostAfterMs: millisecondsSchema.default(60_000),
});
export type SiteSettings = z.infer<typeof siteSettingsSchema>;

export const siteRecordSchema = siteSettingsSchema.extend({
  name: siteNameSchema,
  pools: z.array(poolSpecSchema).max(256),
  /** `recovering`: a backup was restored, no fresh address yet. `moved`: another ledger is in charge. */
  suspended: z
    .looseObject({
      as: z.enum(['recovering', 'moved']),
      since: z.number(),
      /** It was moved while it recovered: where it is now, it still does. */
      recoveringSince: z.number().optional(),
    })
    .optional(),
});
export type SiteRecord = z.infer<typeof siteRecordSchema>;

export const selfWithdrawalSchema = z.looseObject({
  /** The cluster's provider stops announcing after so long without contact. */
  afterMs: millisecondsSchema.min(10_000),
  graceMs: millisecondsSchema.min(5_000),
});

export const clusterRecordSchema = z.looseObject({
  site: siteNameSchema,
  name: clusterNameSchema,
  /** Names this cluster for good: another of the same name has another. Credentials are bound to it. */
  id: identifierSchema,
  /** What the cluster holds belongs to its epoch. Reclaiming begins a new one. */
  epoch: identifierSchema,
  /** Grows with every change of what the cluster holds; starts at the time of its creation. */
  sequence: z.int().min(0),
  quota: z.int().min(0).max(1_000_000).optional(),
  selfWithdrawal: selfWithdrawalSchema.optional(),
  /** It came from elsewhere with owners known by name only; the first owner of that name takes over. */
  imported: z.boolean().optional(),
  createdAt: z.number(),
});
export type ClusterRecord = z.infer<typeof clusterRecordSchema>;

export const beatRecordSchema = z.looseObject({
  id: identifierSchema,
  at: z.number(),
  /** What the cluster promised with it: to have stopped announcing so long after it. */
  withdrawsAfterMs: z.number().optional(),
});
export type BeatRecord = z.infer<typeof beatRecordSchema>;

export const ownerSchema = z.looseObject({
  uid: uidSchema,
  purpose: purposeSchema,
  namespace: kubernetesNameSchema.optional(),
  name: kubernetesNameSchema.optional(),
  /** The cluster's sequence when it got the address. A free must name it. */
  fence: z.int(),
  since: z.number(),
  /** `TCP/443`: sharers of an address have disjoint ones. */
  ports: z.array(z.string()).optional(),
});
export type Owner = z.infer<typeof ownerSchema>;

export const heldSchema = z.looseObject({
  state: z.literal('held'),
  address: storedAddressSchema,
  pool: poolNameSchema,
  cluster: clusterNameSchema,
  epoch: identifierSchema,
  owners: z.array(ownerSchema).min(1),
  sharingKey: sharingKeySchema.optional(),
});
export type HeldAddress = z.infer<typeof heldSchema>;

export const restingSchema = z.looseObject({
  state: z.literal('resting'),
  address: storedAddressSchema,
  pool: poolNameSchema,
  cluster: clusterNameSchema,
  /** The `id` of the cluster that had it. */
  id: identifierSchema,
  /** From when on others may have it. */
  until: z.number(),
  /** The Service of that cluster that may have it back at any time. */
  keptFor: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
  /** It was taken from a cluster, whose Service may have it back if it asks for it by name. */
  returnsTo: z
    .looseObject({ id: identifierSchema, namespace: z.string(), name: z.string() })
    .optional(),
});
export type RestingAddress = z.infer<typeof restingSchema>;

export const addressRecordSchema = z.discriminatedUnion('state', [heldSchema, restingSchema]);
export type AddressRecord = HeldAddress | RestingAddress;

export const tombstoneRecordSchema = z.looseObject({
  cluster: clusterNameSchema,
  /** The cluster's own: what nobody else has yet goes back to it, if it returns. */
  id: identifierSchema.optional(),
  epoch: identifierSchema,
  /** The cluster's, when the epoch ended. */
  sequence: z.int(),
  at: z.number(),
  /** Until when the addresses of the epoch rest. */
  until: z.number(),
});
export type TombstoneRecord = z.infer<typeof tombstoneRecordSchema>;

/** What a reservation asks for, as a waiting request is kept. */
export const demandSchema = z.looseObject({
  uid: uidSchema,
  purpose: purposeSchema,
  namespace: kubernetesNameSchema.optional(),
  name: kubernetesNameSchema.optional(),
  families: z.array(familySchema).min(1).max(2),
  /** Addresses by name, at most one of a family. */
  addresses: z.array(storedAddressSchema).max(2).default([]),
  /** It uses the named addresses already: while a site recovers, only such a claim is listened to. */
  claim: z.boolean().optional(),
  pool: poolNameSchema.optional(),
  poolLabels: z.record(z.string(), z.string()).optional(),
  sharingKey: sharingKeySchema.optional(),
  ports: z.array(z.string()).optional(),
});
export type Demand = z.infer<typeof demandSchema>;

/** Hands out the places of the queue. */
export const queueRecordSchema = z.looseObject({ nextPlace: z.int() });
export type QueueRecord = z.infer<typeof queueRecordSchema>;

export const waiterRecordSchema = z.looseObject({
  cluster: clusterNameSchema,
  epoch: identifierSchema,
  demand: demandSchema,
  /** Its place in the site's queue: the lower goes first. */
  place: z.int(),
  since: z.number(),
  expires: z.number(),
});
export type WaiterRecord = z.infer<typeof waiterRecordSchema>;

export const credentialRecordSchema = z.looseObject({
  id: identifierSchema,
  /** SHA-256 of a token's secret, or of a client certificate. Tokens have 256 random bits. */
  hash: z.string(),
  kind: z.enum(['token', 'certificate']),
  role: z.enum(['operator', 'cluster']),
  site: siteNameSchema.optional(),
  cluster: clusterNameSchema.optional(),
  clusterId: identifierSchema.optional(),
  note: z.string().max(200).optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  /** It was rotated; `expiresAt` in here is when it would have ended otherwise. */
  replaced: z.looseObject({ expiresAt: z.number().optional() }).optional(),
  /** The credential that came with the cluster's creation, and whether anybody has used it. */
  first: z.enum(['unused', 'used']).optional(),
});
export type CredentialRecord = z.infer<typeof credentialRecordSchema>;
/** What may be shown of a credential: everything but its hash. */
export const credentialSummarySchema = credentialRecordSchema.omit({ hash: true });
export type CredentialSummary = z.infer<typeof credentialSummarySchema>;

export const auditRecordSchema = z.looseObject({
  at: z.number(),
  /** The credential, or `system` for what the server does of itself. */
  actor: z.string(),
  action: z.string(),
  site: z.string().optional(),
  cluster: z.string().optional(),
  addresses: z.array(z.string()).optional(),
  owner: z.string().optional(),
  reason: z.string().optional(),
  detail: z.record(z.string(), z.unknown()).optional(),
});
export type AuditRecord = z.infer<typeof auditRecordSchema>;
