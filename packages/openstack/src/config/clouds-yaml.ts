import { parse } from 'yaml';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CloudSettings } from './settings.ts';

/**
 * One cloud of a clouds.yaml, merged with secure.yaml. Without a name the file must have exactly one cloud.
 * Paths (`cacert`, `cert`, `key`) stay unresolved.
 */
export function settingsFromCloudsYaml(
  cloudsText: string,
  secureText: string | undefined,
  wanted: string | undefined,
): { readonly name: string; readonly settings: CloudSettings } {
  const clouds = cloudsOf(cloudsText, 'clouds.yaml');
  const name = wanted ?? onlyName(Object.keys(clouds));
  const cloud = Object.hasOwn(clouds, name) ? clouds[name] : undefined;
  if (cloud === undefined) {
    throw new CausewayError('invalid', `clouds.yaml has no cloud ${JSON.stringify(name)}`, {
      hint: `It has ${Object.keys(clouds).join(', ') || 'none'}.`,
    });
  }
  const secure = secureText === undefined ? {} : cloudsOf(secureText, 'secure.yaml');
  const secured = Object.hasOwn(secure, name) ? (secure[name] ?? {}) : {};
  return { name, settings: { ...flatten(name, cloud), ...flatten(name, secured) } };
}

type Cloud = Readonly<Record<string, unknown>>;

function cloudsOf(text: string, file: string): Readonly<Record<string, Cloud>> {
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    // The parser's message quotes the line, which may hold a password.
    const line = positionOf(cause);
    throw new CausewayError('invalid', `${file} is not YAML${line}`);
  }
  const clouds = isRecord(document) ? document['clouds'] : undefined;
  if (!isRecord(clouds)) throw new CausewayError('invalid', `${file} has no map "clouds"`);
  return Object.fromEntries(
    Object.entries(clouds).map(([name, cloud]) => {
      if (isRecord(cloud)) return [name, cloud];
      throw new CausewayError('invalid', `${file}: the cloud ${JSON.stringify(name)} is not a map`);
    }),
  );
}

function onlyName(names: readonly string[]): string {
  const [name] = names;
  if (name !== undefined && names.length === 1) return name;
  throw new CausewayError(
    'invalid',
    `clouds.yaml has ${names.length} clouds and none is selected`,
    {
      hint: `Select one with OS_CLOUD: ${names.join(', ')}.`,
    },
  );
}

function flatten(name: string, cloud: Cloud): CloudSettings {
  if (cloud['profile'] !== undefined || cloud['cloud'] !== undefined) {
    throw new CausewayError('unsupported', `cloud ${name}: vendor profiles are not supported`, {
      hint: 'Write the settings of the profile into the cloud itself.',
    });
  }
  const settings: Record<string, string> = {};
  const auth = cloud['auth'];
  for (const [key, value] of [
    ...Object.entries(cloud),
    ...(isRecord(auth) ? Object.entries(auth) : []),
  ]) {
    if (typeof value === 'string') settings[key] = value;
    else if (typeof value === 'number' || typeof value === 'boolean') settings[key] = String(value);
  }
  return settings;
}

function positionOf(cause: unknown): string {
  const match = /at line \d+, column \d+/.exec(cause instanceof Error ? cause.message : '');
  return match === null ? '' : ` (${match[0]})`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
