import { z } from 'zod';

/** The parts of a kubeconfig that are read. Keys of other tools are ignored, as by kubectl. */

const cluster = z.looseObject({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
  'proxy-url': z.string().optional(),
  extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
});

const exec = z.looseObject({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().optional(),
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).optional(),
});

const user = z.looseObject({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  as: z.string().optional(),
  'as-uid': z.string().optional(),
  'as-groups': z.array(z.string()).nullish(),
  exec: exec.nullish(),
  'auth-provider': z.looseObject({ name: z.string() }).nullish(),
});

const context = z.looseObject({
  cluster: z.string(),
  user: z.string().optional(),
  namespace: z.string().optional(),
});

export const kubeconfigSchema = z.looseObject({
  'current-context': z.string().nullish(),
  clusters: z.array(z.looseObject({ name: z.string(), cluster })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: user.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context })).nullish(),
});

export type ClusterEntry = z.infer<typeof cluster>;
export type UserEntry = z.infer<typeof user>;
export type ExecEntry = z.infer<typeof exec>;
export type ContextEntry = z.infer<typeof context>;
