import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Prefix } from '@causeway/base/address/prefix';
import {
  cloudSetting,
  connectionSettings,
  logSettings,
  observeSettings,
} from '@causeway/base/settings/common-settings';
import { digest } from './names.ts';

const backendName = z
  .string()
  .regex(
    /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/,
    'is not a name of lower-case letters, digits and hyphens',
  )
  .max(30, 'is longer than 30 characters');

const secretKey = z.string().regex(/^[^/]+\/[^/]+$/, 'is not of the form namespace/name');

const namespaceTemplate = z
  .string()
  .regex(/\{(?:project|projectId)\}/, 'has neither {project} nor {projectId} in it')
  .refine(
    (text) => (text.match(/\{[^}]*\}?/g) ?? []).every((part) => templateParts.has(part)),
    'knows only {project}, {projectId}, {domainId} and {backend}',
  );
const templateParts: ReadonlySet<string> = new Set([
  '{project}',
  '{projectId}',
  '{domainId}',
  '{backend}',
]);

const projectNames = z.array(z.string().min(1));

const networks = z.array(networkSetting);

const backend = z.strictObject({
  name: backendName.describe('the first part of the names of its Services'),
  secret: secretKey.optional().describe('Secret with its credentials'),
  cloud: z.string().min(1).optional().describe('or its entry of clouds.yaml'),
  projects: projectNames.optional().describe('only these projects'),
  ignoreProjects: projectNames.optional().describe('not these projects'),
  namespaceTemplate: namespaceTemplate.optional().describe('instead of the common one'),
  memberNetworks: networks.optional().describe('instead of the common ones'),
});

/** The settings of `causeway discover`. */
export const discoverySettings = z.strictObject({
  backendName: backendName
    .optional()
    .describe('the first part of the names of Services, if there is one backend'),
  secret: secretKey
    .optional()
    .describe('Secret with the credentials, as namespace/name; else the cloud'),
  cloud: cloudSetting,
  backends: z.array(backend).default([]).describe('several clouds, instead of the three above'),
  intervalSeconds: z
    .number()
    .min(1)
    .default(30)
    .describe('time from the start of a cycle to the next'),
  projects: projectNames.default([]).describe('discover only these projects, by name or id'),
  ignoreProjects: projectNames.default([]).describe('never discover these projects, by name or id'),
  namespaceTemplate: namespaceTemplate
    .default('{project}')
    .describe('namespace of a project: {project}, {projectId}, {domainId}, {backend}'),
  memberNetworks: networks
    .default([])
    .describe('networks of members; members elsewhere are left out. If empty, all are accepted'),
  createNamespaces: z.boolean().default(true).describe('create missing namespaces'),
  adoptGimbal: z
    .boolean()
    .default(false)
    .describe("adopt objects of Gimbal's discoverer under a name that is needed"),
  serviceType: z
    .enum(['Headless', 'ClusterIP'])
    .default('Headless')
    .describe('whether names lead straight to the members or to an address of the Service'),
  endpointsKind: z
    .enum(['EndpointSlice', 'Endpoints'])
    .default('EndpointSlice')
    .describe('the kind of object that endpoints are written as'),
  maxLossShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.25)
    .describe(
      "share of a backend's ports, and of its endpoints, that may disappear at once without three cycles agreeing",
    ),
  workers: z
    .number()
    .int()
    .min(1)
    .max(256)
    .default(16)
    .describe('projects of a backend worked on, and requests to it, side by side'),
  requestSeconds: z.number().min(0.1).default(10).describe('for one try of a request'),
  projectSeconds: z.number().min(1).default(60).describe('for reading one project'),
  ...connectionSettings,
  leaderElection: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('only one of several replicas is active at a time'),
      namespace: z.string().min(1).default('kube-system').describe('namespace of the lease'),
      name: z
        .string()
        .min(1)
        .optional()
        .describe('name of the lease; else causeway-discovery- and the names of the backends'),
    })
    .prefault({}),
  observe: observeSettings(15204),
  log: logSettings,
});

export type DiscoverySettings = z.output<typeof discoverySettings>;

export interface BackendSettings {
  readonly name: string;
  readonly secret: string | undefined;
  readonly cloud: string | undefined;
  readonly projects: readonly string[];
  readonly ignoreProjects: readonly string[];
  readonly namespaceTemplate: string;
  readonly memberNetworks: readonly Prefix[];
}

/** The backends, in either form of the settings. */
export function backendsOf(settings: DiscoverySettings): BackendSettings[] {
  const { backendName: name, secret, cloud, backends, ...common } = settings;
  if (backends.length === 0) {
    if (name === undefined) {
      throw new CausewayError('invalid', 'no backend is configured', {
        hint: 'Give --backend-name, or list backends in the settings file.',
      });
    }
    return [{ ...common, name, secret, cloud }];
  }
  if (name !== undefined || secret !== undefined || cloud !== undefined) {
    throw new CausewayError('invalid', 'a backend is given beside the list of backends', {
      hint: 'Move backendName, secret and cloud into the list.',
    });
  }
  const names = backends.map((one) => one.name);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined) {
    throw new CausewayError('invalid', `two backends have the name ${twice}`);
  }
  return backends.map((one) => ({
    name: one.name,
    secret: one.secret,
    cloud: one.cloud,
    projects: one.projects ?? common.projects,
    ignoreProjects: one.ignoreProjects ?? common.ignoreProjects,
    namespaceTemplate: one.namespaceTemplate ?? common.namespaceTemplate,
    memberNetworks: one.memberNetworks ?? common.memberNetworks,
  }));
}

const longestLeaseName = 253;

/** Processes for the same backends share a lease; processes for other backends must not wait for it. */
export function leaseName(settings: DiscoverySettings): string {
  const given = settings.leaderElection.name;
  if (given !== undefined) return given;
  const backends = backendsOf(settings)
    .map(({ name }) => name)
    .sort();
  const name = `causeway-discovery-${backends.join('.')}`;
  return name.length <= longestLeaseName ? name : `causeway-discovery-${digest(backends)}`;
}
