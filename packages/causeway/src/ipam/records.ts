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
import { fromLegacyOwner } from './legacy.ts';

/**
 * The records of the ledger, one for each key. Records are loose: an older replica that rewrites a record
 * keeps the fields of a newer one, so replicas one version apart share a ledger.
 */

export const purposes = ['control-plane', 'load-balancer'] as const;
export const purposeSchema = z.enum(purposes);
export type Purpose = (typeof purposes)[number];

/** Announcers of a pool's addresses. `node` is not one of them: it announces a node's own address. */
export const poolAnnouncers = ['kube-vip', 'metallb', 'cilium', 'purelb', 'plain'] as const;

export const poolSpecSchema = z.looseObject({
  name: poolNameSchema,
  /** Addresses, ranges `a-b` and networks; the network and broadcast addresses of a network are excluded. */
  addresses: z.array(z.string().max(100)).min(1).max(1000),
  exclude: z.array(z.string().max(100)).max(1000).default([]),
  /** Routers on the network. Never assigned. */
  gateways: z.array(z.string().max(100)).max(16).default([]),
  /** The networks that contain the ranges, so that their network and broadcast addresses are known. */
  subnets: z.array(z.string().max(100)).max(64).default([]),
  /** Higher values come first. */
  priority: z.int().min(-1000).max(1000).default(0),
  labels: z.record(z.string().max(63), z.string().max(63)).default({}),
  purposes: z
    .array(purposeSchema)
    .min(1)
    .max(2)
    .default([...purposes]),
  /** The announcer of its addresses; if omitted, clusters detect it. A newer version may have more values. */
  announcer: z.string().max(63).optional(),
  /** The platform in the servers' settings that must prepare an address before it can be used. */
  platform: z.string().max(63).optional(),
  /** A drained pool assigns nothing; owners keep their addresses. */
  drained: z.boolean().default(false),
});
export type PoolSpec = z.infer<typeof poolSpecSchema>;

/** If omitted, the drained state does not change. */
const poolChangeSchema = poolSpecSchema.extend({ drained: z.boolean().optional() });
export type PoolChange = z.infer<typeof poolChangeSchema>;

export const siteSettingsSchema = z.looseObject({
  /** Quarantine of a freed address after a confirmed withdrawal. */
  quarantineMs: millisecondsSchema.default(60_000),
  /** Quarantine of a freed address without a confirmed withdrawal. */
  unconfirmedQuarantineMs: millisecondsSchema.default(600_000),
  /** How long a freed address is kept for a Service of the same cluster, namespace and name. */
  keepMs: millisecondsSchema.default(0),
  /** Quota of a cluster without its own. */
  defaultQuota: z.int().min(0).max(1_000_000).optional(),
  /** A cluster without a heartbeat for this long is shown as lost. It keeps its addresses. */
  lostAfterMs: millisecondsSchema.default(60_000),
});
export type SiteSettings = z.infer<typeof siteSettingsSchema>;

export const siteRecordSchema = siteSettingsSchema.extend({
  name: siteNameSchema,
  pools: z.array(poolSpecSchema).max(256),
  /** `recovering`: a backup was restored, no new address yet. `moved`: another ledger is in charge. */
  suspended: z
    .looseObject({
      as: z.enum(['recovering', 'moved']),
      since: z.number(),
      /** The site was moved while it recovered: it still recovers in the new ledger. */
      recoveringSince: z.number().optional(),
    })
    .optional(),
});
export type SiteRecord = z.infer<typeof siteRecordSchema>;

export const selfWithdrawalSchema = z.looseObject({
  /** The cluster's provider stops announcing after this time without contact. */
  afterMs: millisecondsSchema.min(10_000),
  graceMs: millisecondsSchema.min(5_000),
});

export const clusterRecordSchema = z.looseObject({
  site: siteNameSchema,
  name: clusterNameSchema,
  /**
   * Permanent ID of this cluster: another cluster of the same name has another ID. Credentials are bound to
   * it.
   */
  id: identifierSchema,
  /** The cluster's addresses belong to its epoch. Reclaiming begins a new one. */
  epoch: identifierSchema,
  /** Grows with every change of the cluster's addresses; starts at the time of its creation. */
  sequence: z.int().min(0),
  quota: z.int().min(0).max(1_000_000).optional(),
  selfWithdrawal: selfWithdrawalSchema.optional(),
  /** Imported with owners known by name only; the first owner of that name takes over. */
  imported: z.boolean().optional(),
  createdAt: z.number(),
});
export type ClusterRecord = z.infer<typeof clusterRecordSchema>;

export const beatRecordSchema = z.looseObject({
  id: identifierSchema,
  at: z.number(),
  /** The promise in the heartbeat: the cluster stops announcing after this time without contact. */
  withdrawsAfterMs: z.number().optional(),
});
export type BeatRecord = z.infer<typeof beatRecordSchema>;

export const ownerSchema = z.looseObject({
  uid: uidSchema,
  purpose: purposeSchema,
  namespace: kubernetesNameSchema.optional(),
  name: kubernetesNameSchema.optional(),
  /** The cluster's sequence when it got the address. A release must send it. */
  fencingToken: z.int(),
  since: z.number(),
  /** `TCP/443`: Services that share an address have disjoint ports. */
  ports: z.array(z.string()).optional(),
});
export type Owner = z.infer<typeof ownerSchema>;

export const heldSchema = z.looseObject({
  state: z.literal('held'),
  address: storedAddressSchema,
  pool: poolNameSchema,
  cluster: clusterNameSchema,
  epoch: identifierSchema,
  owners: z.array(z.preprocess(fromLegacyOwner, ownerSchema)).min(1),
  sharingKey: sharingKeySchema.optional(),
});
export type HeldAddress = z.infer<typeof heldSchema>;

export const restingSchema = z.looseObject({
  state: z.literal('resting'),
  address: storedAddressSchema,
  pool: poolNameSchema,
  cluster: clusterNameSchema,
  /** The `id` of the cluster that had the address. */
  id: identifierSchema,
  /** Time from which others may get it. */
  until: z.number(),
  /** The Service of that cluster that can get it back at any time. */
  keptFor: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
  /** The address was reclaimed from a cluster. Its Service can get it back if it requests it by name. */
  returnsTo: z
    .looseObject({ id: identifierSchema, namespace: z.string(), name: z.string() })
    .optional(),
});
export type RestingAddress = z.infer<typeof restingSchema>;

export const addressRecordSchema = z.discriminatedUnion('state', [heldSchema, restingSchema]);
export type AddressRecord = HeldAddress | RestingAddress;

export const tombstoneRecordSchema = z.looseObject({
  cluster: clusterNameSchema,
  /** The cluster's ID: addresses without a new owner go back to the cluster when it returns. */
  id: identifierSchema.optional(),
  epoch: identifierSchema,
  /** The cluster's sequence when the epoch ended. */
  sequence: z.int(),
  at: z.number(),
  /** End of the quarantine of the epoch's addresses. */
  until: z.number(),
});
export type TombstoneRecord = z.infer<typeof tombstoneRecordSchema>;

/** Demand of a reservation, as it is stored for a waiting request. */
export const demandSchema = z.looseObject({
  uid: uidSchema,
  purpose: purposeSchema,
  namespace: kubernetesNameSchema.optional(),
  name: kubernetesNameSchema.optional(),
  families: z.array(familySchema).min(1).max(2),
  /** Requested addresses, at most one for each family. */
  addresses: z.array(storedAddressSchema).max(2).default([]),
  /** The owner uses the named addresses already: while a site recovers, only such a request is accepted. */
  inUse: z.boolean().optional(),
  pool: poolNameSchema.optional(),
  poolLabels: z.record(z.string(), z.string()).optional(),
  sharingKey: sharingKeySchema.optional(),
  ports: z.array(z.string()).optional(),
});
export type Demand = z.infer<typeof demandSchema>;

/** Assigns the places of the queue. */
export const queueRecordSchema = z.looseObject({ nextPlace: z.int() });
export type QueueRecord = z.infer<typeof queueRecordSchema>;

export const waiterRecordSchema = z.looseObject({
  cluster: clusterNameSchema,
  epoch: identifierSchema,
  demand: demandSchema,
  /** Place in the site's queue: the lowest comes first. */
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
  /** The credential was rotated; `expiresAt` in here is its original expiry time. */
  replaced: z.looseObject({ expiresAt: z.number().optional() }).optional(),
  /** The credential of the cluster's creation, and whether it has been used. */
  first: z.enum(['unused', 'used']).optional(),
});
export type CredentialRecord = z.infer<typeof credentialRecordSchema>;
/** The public fields of a credential: everything except its hash. */
export const credentialSummarySchema = credentialRecordSchema.omit({ hash: true });
export type CredentialSummary = z.infer<typeof credentialSummarySchema>;

export const auditRecordSchema = z.looseObject({
  at: z.number(),
  /** The credential, or `system` for actions of the server itself. */
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
