import { z } from 'zod';
import { gatewaySettings } from '../../gateway/controller/settings.ts';
import { octaviaSettings } from '../../octavia/settings.ts';
import { poolSettings } from '../../pool/settings.ts';
import {
  cloudSetting,
  connectionSettings,
  logSettings,
  observeSettings,
} from '@causeway/base/settings/common-settings';

/** The settings of `causeway controller`. */
export const controllerSettings = z.strictObject({
  clusterId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'is not a name of lower-case letters, digits and hyphens')
    .optional()
    .describe(
      'name of this cluster in the marks of its cloud objects, beside the UID of the cluster; do not change it later; the UID of the namespace kube-system if not set',
    ),
  defaultProvider: z
    .enum(['gateway', 'octavia', 'pool'])
    .optional()
    .describe('provider of Services without a loadBalancerClass; none if not set'),
  workers: z.number().int().min(1).max(256).default(16).describe('Services reconciled in parallel'),
  ...connectionSettings,
  cloud: cloudSetting,
  driftSeconds: z
    .number()
    .min(10)
    .default(300)
    .describe('interval of drift detection in the cloud'),
  leaderElection: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('only one controller of a cluster is active at a time'),
      namespace: z.string().min(1).default('kube-system').describe('namespace of the lease'),
      name: z.string().min(1).default('causeway-controller').describe('name of the lease'),
    })
    .prefault({}),
  observe: observeSettings(15203),
  log: logSettings,
  gateway: gatewaySettings.prefault({}),
  octavia: octaviaSettings.prefault({}),
  pool: poolSettings.prefault({}),
});

export type ControllerSettings = z.output<typeof controllerSettings>;
