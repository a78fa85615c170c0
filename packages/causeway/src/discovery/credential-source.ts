import { createHash } from 'node:crypto';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ObjectReference } from '@causeway/kubernetes/objects/object';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { secrets } from '@causeway/kubernetes/objects/resources';
import type { CloudConfig } from '@causeway/openstack/config/cloud-config';
import { cloudConfigFromSecret } from '@causeway/openstack/config/kubernetes-secret';
import { loadCloudConfig, type Environment } from '@causeway/openstack/config/load';
import { Secret } from '@causeway/openstack/secret';

/** Source of a backend's credentials. They are read before each cycle. */
export interface CredentialSource {
  /** For messages. */
  readonly description: string;
  /** The object of Events about the credentials, if there is one. */
  readonly about: ObjectReference | undefined;
  load(signal: AbortSignal): Promise<CloudConfig>;
}

/** The stored credentials are not usable: only a correction fixes them, waiting does not. */
export class UnusableCredentials extends CausewayError {}

/** Marks errors while reading credentials as errors of the credentials, and not of the cloud. */
export async function reading<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (!isErrorCode(thrown, 'invalid') && !isErrorCode(thrown, 'unsupported')) throw thrown;
    const { message, hint } = CausewayError.from(thrown);
    const advice = hint === undefined ? {} : { hint };
    throw new UnusableCredentials('invalid', message, { cause: thrown, ...advice });
  }
}

/** A Secret of the cluster, written `namespace/name`. */
export function secretSource(
  client: KubeClient,
  backend: string,
  secretKey: string,
): CredentialSource {
  const { namespace = '', name } = nameFromKey(secretKey);
  return {
    description: `Secret ${secretKey}`,
    about: { apiVersion: 'v1', kind: 'Secret', namespace, name },
    async load(signal) {
      const { data = {} } = await client.get(secrets, { namespace, name }, { signal });
      return reading(() => cloudConfigFromSecret(backend, data));
    },
  };
}

/** An entry of clouds.yaml, or the `OS_` variables. */
export function localSource(
  environment: Environment,
  workingDirectory: string,
  cloud: string | undefined,
): CredentialSource {
  return {
    description: cloud === undefined ? 'environment or clouds.yaml' : `clouds.yaml: ${cloud}`,
    about: undefined,
    load: () => {
      const chosen = cloud === undefined ? {} : { cloud };
      return reading(() => loadCloudConfig({ environment, workingDirectory, ...chosen }));
    },
  };
}

/**
 * Equal for two configurations exactly when nothing differs, secrets included, and without revealing any of
 * it.
 */
export function fingerprint(config: CloudConfig): string {
  const text = JSON.stringify(
    config,
    function (this: Record<string, unknown>, key, value: unknown) {
      // Secrets are hidden from JSON; `this` still has the original.
      const original = this[key];
      return original instanceof Secret ? original.reveal() : value;
    },
  );
  return createHash('sha256').update(text).digest('hex');
}
