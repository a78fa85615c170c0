import fs from 'node:fs/promises';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CloudConfig } from './cloud-config.ts';
import { settingsFromCloudsYaml } from './clouds-yaml.ts';
import { cloudConfigFrom, type CloudSettings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadOptions {
  readonly environment: Environment;
  /** The cloud to take from clouds.yaml; overrides OS_CLOUD. */
  readonly cloud?: string;
  /** Path of clouds.yaml; replaces the default locations. */
  readonly cloudsFile?: string;
  readonly workingDirectory: string;
}

/**
 * The cloud that the environment describes. In this order: the named cloud of clouds.yaml, the `OS_*`
 * variables if they hold an address, the only cloud of clouds.yaml.
 */
export async function loadCloudConfig(options: LoadOptions): Promise<CloudConfig> {
  const { environment } = options;
  const wanted = options.cloud ?? nonEmpty(environment['OS_CLOUD']);
  const fromVariables = settingsFromEnvironment(environment);
  if (wanted === undefined && options.cloudsFile === undefined && fromVariables['auth_url']) {
    return cloudConfigFrom('environment', await withFiles(fromVariables, options.workingDirectory));
  }
  const file = await findFile(options, 'clouds.yaml', 'OS_CLIENT_CONFIG_FILE', options.cloudsFile);
  if (file === undefined) {
    throw new CausewayError('invalid', 'no cloud is configured', {
      hint: 'Write a clouds.yaml, set OS_AUTH_URL and the other OS_ variables, or name a Secret.',
    });
  }
  const beside = path.join(path.dirname(file.path), 'secure.yaml');
  const secure =
    (await readIfThere(beside)) ??
    (await findFile(options, 'secure.yaml', 'OS_CLIENT_SECURE_FILE', undefined))?.text;
  const { name, settings } = settingsFromCloudsYaml(file.text, secure, wanted);
  return cloudConfigFrom(name, await withFiles(settings, path.dirname(file.path)));
}

const prefix = 'OS_';

/** `OS_REGION_NAME` corresponds to `region_name` of clouds.yaml, and so on. */
export function settingsFromEnvironment(environment: Environment): CloudSettings {
  const settings: Record<string, string> = {};
  for (const [key, value] of Object.entries(environment)) {
    if (!key.startsWith(prefix) || value === undefined || value === '') continue;
    settings[key.slice(prefix.length).toLowerCase()] = value;
  }
  return settings;
}

/** Replaces the paths by the contents of the files. */
async function withFiles(settings: CloudSettings, directory: string): Promise<CloudSettings> {
  const read: Record<string, string | undefined> = { ...settings };
  for (const key of ['cacert', 'cert', 'key'] as const) {
    const file = settings[key];
    if (file === undefined) continue;
    try {
      read[key] = await fs.readFile(path.resolve(directory, file), 'utf8');
    } catch (cause) {
      throw new CausewayError('invalid', `the file that ${key} names cannot be read`, { cause });
    }
  }
  return read;
}

async function findFile(
  { environment, workingDirectory }: LoadOptions,
  name: string,
  variable: string,
  given: string | undefined,
): Promise<{ path: string; text: string } | undefined> {
  const named = given ?? nonEmpty(environment[variable]);
  const home = environment['HOME'];
  const configHome = environment['XDG_CONFIG_HOME'] ?? (home && path.join(home, '.config'));
  const places =
    named === undefined
      ? [
          path.join(workingDirectory, name),
          ...(configHome ? [path.join(configHome, 'openstack', name)] : []),
          path.join('/etc/openstack', name),
        ]
      : [path.resolve(workingDirectory, named)];
  for (const place of places) {
    const text = await readIfThere(place);
    if (text !== undefined) return { path: place, text };
  }
  if (named !== undefined) throw new CausewayError('invalid', `there is no file ${named}`);
  return undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new CausewayError('invalid', `${file} cannot be read`, { cause });
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
