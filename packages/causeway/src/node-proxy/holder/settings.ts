import { z } from 'zod';

const count = (fallback: number) => z.number().int().min(1).default(fallback);

const deviceName = z.string().regex(/^[a-z0-9-]{1,15}$/, 'is not the name of a device');

/** The settings for holding connections to idle Services, `idling` in the proxy's settings. */
export const holderSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe('hold connections to idle Services, and ask for pods'),
  holdSeconds: count(120).describe('how long the first packet of a connection is kept'),
  graceSeconds: count(120).describe(
    'how long connections are still held after the idle annotation was removed and before a pod is ready',
  ),
  packetsPerService: count(16_384).describe('packets kept for one Service'),
  bytesPerService: count(16_777_216).describe('bytes kept for one Service'),
  packets: count(65_536).describe('packets kept for all Services'),
  bytes: count(67_108_864).describe('bytes kept for all Services'),
  datagramsPerFlow: count(16).describe('datagrams kept for one client port'),
  connectionsPerService: count(1_024).describe(
    'connections accepted for one Service that is annotated with causeway.dev/hold: accept',
  ),
  connections: count(8_192).describe('connections accepted for all such Services'),
  drainSeconds: count(30).describe(
    'how long accepted connections may continue when the proxy ends',
  ),
  reportSeconds: z
    .number()
    .int()
    .min(1)
    .max(60)
    .default(30)
    .describe('how often the activity of Services with causeway.dev/idle-after is reported'),
  reportNamespace: z
    .string()
    .min(1)
    .default('kube-system')
    .describe('namespace of the activity reports'),
  logGroup: z
    .number()
    .int()
    .min(1)
    .max(65_534)
    .default(29_071)
    .describe(
      'NFLOG group through which packets arrive, and the next one; no other program may use them',
    ),
  device: deviceName
    .default('causeway-hold')
    .describe('TUN device through which packets are replayed'),
  insideDevice: deviceName
    .default('causeway-inside')
    .describe('the same for packets of pods, where pods are identified by their interface'),
});

export type HolderSettings = z.output<typeof holderSettings>;
