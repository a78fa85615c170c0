import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { KubeClient } from '../client/client.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import type { Condition, KubeObject } from './object.ts';
import { defineResource, type Resource } from './resource.ts';
import { customResourceDefinitions } from './resources.ts';

export interface InstallOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fieldManager: string;
  /** For all of them together. */
  readonly timeoutMs?: number;
}

/**
 * Installs or updates definitions and waits until the server serves them all. Matching definitions are not
 * written: if they are installed by other means, no permission to write is needed.
 */
export async function installCustomResources(
  client: KubeClient,
  definitions: readonly CustomResourceDefinition[],
  options: InstallOptions,
): Promise<void> {
  const { clock, signal, fieldManager, timeoutMs = 60_000 } = options;
  const giveUpAt = clock.monotonic() + timeoutMs;
  await Promise.all(
    definitions.map(async (definition) => {
      const name = definition.metadata?.name ?? '';
      const present = await client.find(customResourceDefinitions, { name }, { signal });
      if (present === undefined || !covers(present.spec, definition.spec)) {
        await write(client, definition, fieldManager, signal);
      }
      await waitUntilServed(client, name, giveUpAt, clock, signal);
    }),
  );
}

async function write(
  client: KubeClient,
  definition: CustomResourceDefinition,
  fieldManager: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const options = { fieldManager, force: true, signal };
    await client.apply(customResourceDefinitions, definition, options);
  } catch (error) {
    if (!isErrorCode(error, 'forbidden')) throw error;
    const name = definition.metadata?.name ?? '';
    throw new CausewayError(
      'forbidden',
      `the definition ${name} is missing or outdated, and may not be written`,
      {
        cause: error,
        hint: 'Apply those of this version: kubectl apply --server-side -k deploy/kustomize/crds.',
      },
    );
  }
}

/** Whether all wanted fields are present; the server adds its own defaults. */
function covers(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(present) &&
      present.length === wanted.length &&
      wanted.every((item, index) => covers(present[index], item))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return present === wanted;
  if (typeof present !== 'object' || present === null) return false;
  const there = present as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(
    ([key, value]) => value === undefined || covers(there[key], value),
  );
}

async function waitUntilServed(
  client: KubeClient,
  name: string,
  giveUpAt: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
    const current = await client.get(customResourceDefinitions, { name }, { signal });
    const conditions = current.status?.conditions ?? [];
    if (isTrue(conditions, 'Established')) return;
    const refused = conditions.find(
      ({ type, status }) => type === 'NamesAccepted' && status === 'False',
    );
    if (refused !== undefined) {
      throw new CausewayError(
        'conflict',
        `the names of ${name} are taken: ${refused.message ?? ''}`,
        {
          hint: 'Remove the other definition that uses the same plural, kind or short name.',
        },
      );
    }
    if (clock.monotonic() + delayMs > giveUpAt) {
      throw new CausewayError('timeout', `the definition ${name} is still not served by the API`);
    }
    await sleep(clock, delayMs, signal);
  }
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return (
    conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
  );
}

/** The resource of a definition; of its storage version unless another is given. */
export function resourceOf<T extends KubeObject>(
  definition: CustomResourceDefinition,
  version?: string,
): Resource<T> {
  const { group, names, scope, versions } = definition.spec;
  const chosen = versions.find(({ name, storage }) =>
    version === undefined ? storage : name === version,
  );
  if (chosen === undefined) {
    throw new CausewayError(
      'invalid',
      `${names.plural}.${group} has no version ${version ?? 'to store'}`,
    );
  }
  return defineResource<T>({
    group,
    version: chosen.name,
    plural: names.plural,
    kind: names.kind,
    namespaced: scope === 'Namespaced',
  });
}
