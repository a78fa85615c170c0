import fs from 'node:fs/promises';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { Connection } from '../client/connection.ts';
import {
  MaterialCredentialSource,
  type CredentialSource,
  type Material,
  type MaterialCredentials,
  type RequestHeaders,
} from './credentials.ts';
import { ExecCredentialSource } from './exec-credentials.ts';
import {
  kubeconfigSchema,
  type ClusterEntry,
  type ContextEntry,
  type ExecEntry,
  type UserEntry,
} from './kubeconfig-schema.ts';
import { proxyFor } from '../client/proxy-environment.ts';

/** An entry and the base directory of its relative paths. */
interface Entry<T> {
  readonly value: T;
  readonly directory: string;
}

/** Several merged files: a later file can't change a name of an earlier one. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Entry<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Entry<ContextEntry>>;
}

/** Reads kubeconfig files. Missing ones of several are skipped, as by kubectl. */
export async function loadKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const clusters = new Map<string, Entry<ClusterEntry>>();
  const users = new Map<string, Entry<UserEntry>>();
  const contexts = new Map<string, Entry<ContextEntry>>();
  const found: string[] = [];
  let currentContext: string | undefined;
  for (const file of files) {
    const text = await readOptional(file);
    if (text === undefined) continue;
    found.push(file);
    const config = parseKubeconfig(file, text);
    const directory = path.dirname(path.resolve(file));
    for (const { name, cluster } of config.clusters ?? []) {
      if (!clusters.has(name)) clusters.set(name, { value: cluster, directory });
    }
    for (const { name, user } of config.users ?? []) {
      if (!users.has(name)) users.set(name, { value: user ?? {}, directory });
    }
    for (const { name, context } of config.contexts ?? []) {
      if (!contexts.has(name)) contexts.set(name, { value: context, directory });
    }
    currentContext ??= config['current-context'] || undefined;
  }
  if (found.length === 0) {
    throw new CausewayError('not-found', `there is no kubeconfig at ${files.join(' or ')}`);
  }
  return { files: found, currentContext, clusters, users, contexts };
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CausewayError('invalid', `cannot read the kubeconfig ${file}`, { cause: error });
  }
}

function parseKubeconfig(file: string, text: string): z.infer<typeof kubeconfigSchema> {
  let document: unknown;
  try {
    document = parseYaml(text) ?? {};
  } catch {
    // Without the parser's message: it quotes the line, which may be a token.
    throw new CausewayError('invalid', `the kubeconfig ${file} is not YAML`);
  }
  const result = kubeconfigSchema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new CausewayError(
    'invalid',
    `the kubeconfig ${file} is wrong at ${issue?.path.join('.') ?? 'its top'}: ${issue?.message ?? ''}`,
  );
}

export interface KubeconfigChoice {
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The connection of a context of this configuration. */
export function resolveKubeconfig(config: Kubeconfig, choice: KubeconfigChoice): Connection {
  const contextName = choice.context ?? config.currentContext;
  if (contextName === undefined) {
    throw new CausewayError('invalid', `${config.files.join(', ')} has no current context`, {
      hint: `Name one with --context${known(config.contexts)}.`,
    });
  }
  const context = findEntry(config, 'contexts', 'context', contextName).value;
  const cluster = findEntry(config, 'clusters', 'cluster', context.cluster);
  const user =
    context.user === undefined || context.user === ''
      ? { value: {}, directory: '.' }
      : findEntry(config, 'users', 'user', context.user);
  const server = withoutEndingSlashes(cluster.value.server);
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new CausewayError(
      'invalid',
      `the server of cluster ${context.cluster} is ${JSON.stringify(server)}, not an http or https address`,
    );
  }
  return {
    server,
    certificateAuthority: material(cluster, 'certificate-authority', 'certificate-authority-data'),
    insecureSkipTlsVerify: cluster.value['insecure-skip-tls-verify'] ?? false,
    tlsServerName: cluster.value['tls-server-name'],
    proxyUrl: cluster.value['proxy-url'] || proxyFor(new URL(server), choice.env),
    credentials: credentialsOf(user, cluster, choice.clock),
    namespace: context.namespace || 'default',
    origin: `context ${contextName} of ${config.files.join(', ')}`,
  };
}

function findEntry<Part extends 'contexts' | 'clusters' | 'users'>(
  config: Kubeconfig,
  part: Part,
  word: string,
  name: string,
): Entry<
  Part extends 'contexts' ? ContextEntry : Part extends 'clusters' ? ClusterEntry : UserEntry
> {
  const entries = config[part] as ReadonlyMap<string, Entry<never>>;
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  throw new CausewayError('invalid', `${config.files.join(', ')} has no ${word} named ${name}`, {
    hint: `Check the name${known(entries)}.`,
  });
}

function known(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? '' : `; there are ${[...entries.keys()].join(', ')}`;
}

/** Data overrides a file, as in client-go. */
function material<T extends object>(
  entry: Entry<T>,
  fileKey: keyof T & string,
  dataKey: keyof T & string,
): Material | undefined {
  const data = entry.value[dataKey];
  if (typeof data === 'string' && data !== '') {
    return { text: Buffer.from(data, 'base64').toString('utf8') };
  }
  const file = entry.value[fileKey];
  if (typeof file === 'string' && file !== '') return { file: path.resolve(entry.directory, file) };
  return undefined;
}

function credentialsOf(
  entry: Entry<UserEntry>,
  cluster: Entry<ClusterEntry>,
  clock: Clock,
): CredentialSource {
  const user = entry.value;
  if (user['auth-provider']) {
    throw new CausewayError(
      'unsupported',
      `the auth provider ${user['auth-provider'].name} was removed from Kubernetes`,
      { hint: 'Use the credential plug-in (exec) of your provider.' },
    );
  }
  const headers = impersonation(user);
  if (user.exec) return execSource(user.exec, entry.directory, cluster, headers, clock);

  const certificate = material(entry, 'client-certificate', 'client-certificate-data');
  const key = material(entry, 'client-key', 'client-key-data');
  if ((certificate === undefined) !== (key === undefined)) {
    throw new CausewayError('invalid', 'a client certificate and its key must be given together');
  }
  const token: Material | undefined = user.token
    ? { text: user.token }
    : user.tokenFile
      ? { file: path.resolve(entry.directory, user.tokenFile) }
      : undefined;
  const source: MaterialCredentials = {
    headers,
    ...(token === undefined ? {} : { token }),
    ...(user.username ? { basic: { username: user.username, password: user.password ?? '' } } : {}),
    ...(certificate && key ? { certificate: { certificate, key } } : {}),
  };
  return new MaterialCredentialSource(source, clock);
}

function impersonation(user: UserEntry): RequestHeaders {
  const groups = user['as-groups'] ?? [];
  return {
    ...(user.as ? { 'impersonate-user': user.as } : {}),
    ...(user['as-uid'] ? { 'impersonate-uid': user['as-uid'] } : {}),
    ...(groups.length > 0 ? { 'impersonate-group': groups } : {}),
  };
}

const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

function execSource(
  exec: ExecEntry,
  directory: string,
  cluster: Entry<ClusterEntry>,
  headers: RequestHeaders,
  clock: Clock,
): CredentialSource {
  if (!execVersions.includes(exec.apiVersion)) {
    throw new CausewayError(
      'unsupported',
      `the credential plug-in ${exec.command} uses ${exec.apiVersion}; supported are ${execVersions.join(' and ')}`,
    );
  }
  if (exec.interactiveMode === 'Always') {
    throw new CausewayError(
      'unsupported',
      `the credential plug-in ${exec.command} requires user input`,
      { hint: 'Use an interactiveMode of Never or IfAvailable: a controller has no terminal.' },
    );
  }
  // A name without a slash is searched in PATH; anything else is a path relative to the kubeconfig.
  const command = exec.command.includes('/') ? path.resolve(directory, exec.command) : exec.command;
  return new ExecCredentialSource(
    {
      apiVersion: exec.apiVersion,
      command,
      args: exec.args ?? [],
      env: Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
      installHint: exec.installHint,
      headers,
      cluster: exec.provideClusterInfo === true ? clusterInfo(cluster) : undefined,
    },
    clock,
  );
}

function clusterInfo({ value }: Entry<ClusterEntry>): Record<string, unknown> {
  const config = value.extensions?.find(
    ({ name }) => name === 'client.authentication.k8s.io/exec',
  )?.extension;
  return {
    server: value.server,
    'tls-server-name': value['tls-server-name'],
    'insecure-skip-tls-verify': value['insecure-skip-tls-verify'],
    'certificate-authority-data': value['certificate-authority-data'],
    'proxy-url': value['proxy-url'],
    config,
  };
}

function withoutEndingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
