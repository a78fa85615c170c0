import { z } from 'zod';
import {
  addressSchema,
  clusterNameSchema,
  familySchema,
  identifierSchema,
  kubernetesNameSchema,
  millisecondsSchema,
  poolNameSchema,
  reasonSchema,
  sharingKeySchema,
  siteNameSchema,
  uidSchema,
} from '../names.ts';
import {
  auditRecordSchema,
  poolAnnouncers,
  poolSpecSchema,
  purposeSchema,
  selfWithdrawalSchema,
  siteSettingsSchema,
} from '../records.ts';

/**
 * The bodies of the API. Requests drop unknown fields and answers keep them, so that a server and a client
 * can be one version apart. New fields are always optional, and fields are never removed.
 */

export const none = z.object({});
export const onSite = z.object({ site: siteNameSchema });
export const onPool = onSite.extend({ pool: poolNameSchema });
export const onCluster = onSite.extend({ cluster: clusterNameSchema });
export const onReservation = onCluster.extend({ uid: uidSchema });
export const onAddress = onSite.extend({ address: addressSchema });
export const onCredential = z.object({ id: identifierSchema });

const reason = reasonSchema.optional().describe('The reason, for the audit log.');
export const becauseSchema = z.object({ reason });

/** Query parameters are text. */
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const wholeNumber = z.coerce.number().int();

export const siteBodySchema = z.object({
  quarantineMs: millisecondsSchema.optional(),
  unconfirmedQuarantineMs: millisecondsSchema.optional(),
  keepMs: millisecondsSchema.optional(),
  defaultQuota: z.int().min(0).max(1_000_000).optional(),
  lostAfterMs: millisecondsSchema.optional(),
  reason,
});
export const siteAnswerSchema = siteSettingsSchema.extend({
  name: z.string(),
  suspended: z.looseObject({ as: z.string(), since: z.number() }).optional(),
  pools: z.array(z.string()),
  clusters: z.number(),
  waiting: z.number(),
});
export const suspendBodySchema = z.object({ as: z.enum(['moved', 'recovering']), reason });

export const poolBodySchema = z.object({
  ...poolSpecSchema.omit({ name: true }).shape,
  announcer: z
    .enum(poolAnnouncers)
    .optional()
    .describe('The announcer of its addresses; if omitted, clusters detect it.'),
  drained: z.boolean().optional().describe('If omitted, it does not change.'),
  reason,
});
export const drainBodySchema = z.object({ drained: z.boolean(), reason });
const usage = {
  total: z.number(),
  held: z.number(),
  quarantined: z.number(),
  free: z.number(),
  drained: z.number().optional().describe('Neither held nor in quarantine, and not assigned.'),
  outside: z
    .number()
    .optional()
    .describe('Not part of the total: held since before a change of the pool excluded them.'),
};
export const poolAnswerSchema = poolSpecSchema.extend({
  usage: z.looseObject({
    ...usage,
    families: z
      .array(z.looseObject({ family: familySchema, ...usage }))
      .optional()
      .describe('The same for each family in which the pool has addresses.'),
  }),
});

const inUse = z
  .boolean()
  .optional()
  .describe(
    'The owner uses these addresses already. While a site recovers from a backup, only such requests are accepted.',
  );
const families = z.array(familySchema).min(1).max(2);
export const controlPlaneSchema = z.object({
  families: families.default([4]),
  addresses: z.array(addressSchema).max(2).default([]),
  inUse,
  pool: poolNameSchema.optional(),
});
export const createClusterBodySchema = z.object({
  cluster: clusterNameSchema,
  quota: z.int().min(0).max(1_000_000).optional(),
  selfWithdrawal: selfWithdrawalSchema.optional(),
  controlPlane: controlPlaneSchema
    .optional()
    .describe('The address of the control plane; omitted for a cluster that has one already.'),
  imported: z.boolean().optional(),
  reason,
});
export const clusterAnswerSchema = z.looseObject({
  site: z.string(),
  cluster: z.string(),
  epoch: z.string(),
  quota: z.number().optional(),
  selfWithdrawal: selfWithdrawalSchema.optional(),
  addresses: z.number(),
  health: z.string(),
  lastHeartbeat: z.number().optional(),
  withdrawsAfterMs: z
    .number()
    .optional()
    .describe(
      'The promise in that heartbeat: the cluster stops announcing after this time without contact.',
    ),
});
export const configureClusterBodySchema = z.object({
  quota: z.int().min(0).max(1_000_000).nullable().optional(),
  selfWithdrawal: selfWithdrawalSchema.nullable().optional(),
  reason,
});
export const removeClusterQuerySchema = z.object({ withdrawn: flag.default(false), reason });
export const reclaimBodySchema = z.object({ withdrawn: z.boolean().default(false), reason });
export const voidedAnswerSchema = z.looseObject({ addresses: z.array(z.string()) });

export const reserveBodySchema = z.object({
  uid: uidSchema,
  purpose: purposeSchema.default('load-balancer'),
  namespace: kubernetesNameSchema.optional(),
  name: kubernetesNameSchema.optional(),
  families: families.default([4]),
  addresses: z.array(addressSchema).max(2).default([]),
  inUse,
  pool: poolNameSchema.optional(),
  poolLabels: z.record(z.string(), z.string()).optional(),
  sharingKey: sharingKeySchema.optional(),
  ports: z
    .array(z.string().regex(/^(?:TCP|UDP|SCTP)\/[1-9][0-9]{0,4}$/))
    .max(200)
    .optional(),
  waitMs: z
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe('How long to wait for an address if none is left, with a place in the queue.'),
  reason,
});
export const reservationSchema = z.looseObject({
  site: z.string(),
  cluster: z.string(),
  uid: z.string(),
  purpose: z.string(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  addresses: z.array(z.looseObject({ address: z.string(), family: z.number(), pool: z.string() })),
  fencingToken: z.number(),
  since: z.number(),
});
export const reserveAnswerSchema = z.discriminatedUnion('state', [
  z.looseObject({ state: z.literal('held'), reservation: reservationSchema }),
  z.looseObject({ state: z.literal('waiting'), position: z.number() }),
]);
export const freeQuerySchema = z.object({
  fencingToken: wholeNumber.optional(),
  withdrawn: flag.default(false),
  reason,
});
export const freeAnswerSchema = z.looseObject({ freed: z.array(z.string()) });
const { purpose: _always, uid: _inPath, ...wanted } = reserveBodySchema.shape;
/** The spec of a Service: a reservation for a load balancer, with the UID in the path. */
export const ensureLoadBalancerBodySchema = z.object(wanted);
export const updateLoadBalancerBodySchema = z.object({
  fencingToken: z.int(),
  ports: wanted.ports,
  addresses: wanted.addresses
    .unwrap()
    .optional()
    .describe('The addresses to keep; the others go into quarantine. If omitted, all are kept.'),
  reason,
});
export const heldLoadBalancerSchema = z.looseObject({
  state: z.literal('held'),
  fencingToken: z.number(),
  addresses: z.array(
    z.looseObject({
      /** Address that the announcer announces. */
      address: z.string(),
      family: z.number(),
      pool: z.string(),
      /** Address that clients connect to, if it is translated on the way. */
      publicAddress: z.string().optional(),
    }),
  ),
  /** Announcer of the address, if the pool sets it. */
  announcer: z.string().optional(),
});
export const loadBalancerAnswerSchema = z.discriminatedUnion('state', [
  heldLoadBalancerSchema,
  z.looseObject({ state: z.literal('waiting'), position: z.number() }),
]);
export const heartbeatBodySchema = z.object({
  withdrawsAfterMs: millisecondsSchema
    .optional()
    .describe('The promise to stop announcing after this time, if this heartbeat is the last.'),
});
export const heartbeatAnswerSchema = z.looseObject({
  epoch: z.string(),
  addresses: z.number(),
  selfWithdrawal: selfWithdrawalSchema.optional(),
});

export const whoHasAnswerSchema = z.looseObject({
  address: z.string(),
  state: z.enum(['free', 'held', 'resting', 'drained', 'outside']),
  pool: z.string().optional(),
  /** Only for operators and for the cluster itself. */
  cluster: z.string().optional(),
  owners: z.array(z.looseObject({ uid: z.string(), since: z.number() })).optional(),
  until: z.number().optional(),
});

export const credentialSchema = z.looseObject({
  id: z.string(),
  kind: z.string(),
  role: z.string(),
  site: z.string().optional(),
  cluster: z.string().optional(),
  note: z.string().optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
});
export const issueBodySchema = z.object({
  note: z.string().max(200).optional(),
  lifetimeMs: millisecondsSchema.optional(),
  certificate: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('SHA-256 of a client certificate in DER, instead of a token.'),
  reason,
});
/** The token is shown only once; the ledger stores its hash. */
export const issuedAnswerSchema = z.looseObject({
  credential: credentialSchema,
  token: z.string().optional(),
});
export const rotateBodySchema = z.object({ overlapMs: millisecondsSchema.default(600_000) });
export const createClusterAnswerSchema = z.looseObject({
  cluster: clusterAnswerSchema,
  controlPlane: reservationSchema.optional(),
  token: z.string(),
});

export const auditQuerySchema = z.object({
  site: z.string().optional(),
  cluster: z.string().optional(),
  address: z.string().optional(),
  action: z.string().optional(),
  since: wholeNumber.optional(),
  until: wholeNumber.optional(),
  limit: wholeNumber.min(1).max(1000).default(100),
});
export const auditAnswerSchema = z.looseObject({
  records: z.array(auditRecordSchema),
  next: z.number().optional(),
});

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({ items: z.array(item) });
