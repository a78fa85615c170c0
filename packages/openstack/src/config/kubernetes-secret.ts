import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CloudConfig } from './cloud-config.ts';
import { settingsFromCloudsYaml } from './clouds-yaml.ts';
import { cloudConfigFrom, type CloudSettings } from './settings.ts';

/** Accepted names of each field: Causeway's own, and those of Gimbal's later releases. */
const fields: Readonly<Record<string, readonly string[]>> = {
  auth_url: ['keystoneUrl', 'auth-url'],
  network_endpoint_override: ['neutronUrl', 'neutron-url'],
  load_balancer_endpoint_override: ['octaviaUrl', 'octavia-url'],
  username: ['username'],
  password: ['password'],
  project_name: ['projectName', 'project-name', 'tenant-name'],
  project_id: ['projectId', 'project-id', 'tenant-id'],
  application_credential_id: ['applicationCredentialId', 'application-credential-id'],
  application_credential_secret: ['applicationCredentialSecret', 'application-credential-secret'],
  region_name: ['region', 'region-name'],
  interface: ['interface'],
};
const userDomainFields = ['userDomain', 'user-domain', 'user-domain-name', 'domain-name'];
const projectDomainFields = ['projectDomain', 'project-domain', 'project-domain-name'];
const authorityFields = ['certificateAuthorityData', 'certificate-authority-data', 'cacert'];
const nameFields = ['backendName', 'backend-name'];

/**
 * The cloud that a Kubernetes Secret describes. `data` is that of the Secret: every value is base64. The
 * Secret may also hold a whole `clouds.yaml`.
 */
export function cloudConfigFromSecret(
  fallbackName: string,
  data: Readonly<Record<string, string>>,
): CloudConfig {
  const text = (names: readonly string[]) => firstValue(data, names);
  const cacert = certificates(text(authorityFields));
  const authority = cacert === undefined ? {} : { cacert };
  const cloudsYaml = text(['clouds.yaml']);
  if (cloudsYaml !== undefined) {
    const { name, settings } = settingsFromCloudsYaml(cloudsYaml, undefined, text(['cloud']));
    const { cacert: _path, ...inline } = settings;
    return cloudConfigFrom(name, { ...inline, ...authority });
  }
  const settings: Record<string, string | undefined> = { ...authority };
  for (const [key, names] of Object.entries(fields)) settings[key] = text(names);
  const userDomain = text(userDomainFields);
  Object.assign(
    settings,
    domain('user', userDomain),
    domain('project', text(projectDomainFields) ?? userDomain),
  );
  const known: CloudSettings = settings;
  return cloudConfigFrom(text(nameFields) ?? fallbackName, known);
}

/**
 * `default` is the ID of Keystone's first domain (its name is `Default`); other domains are given by name.
 */
function domain(whose: 'user' | 'project', value: string | undefined): Record<string, string> {
  if (value === undefined) return {};
  return value === 'default'
    ? { [`${whose}_domain_id`]: value }
    : { [`${whose}_domain_name`]: value };
}

function firstValue(
  data: Readonly<Record<string, string>>,
  names: readonly string[],
): string | undefined {
  for (const name of names) {
    const encoded = data[name];
    if (encoded === undefined) continue;
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded.replaceAll(/\s/g, ''))) {
      throw new CausewayError('invalid', `the field ${name} of the Secret is not base64`);
    }
    // Values made with `echo` end in an unintended newline.
    const value = Buffer.from(encoded, 'base64').toString('utf8').trim();
    if (value !== '') return value;
  }
  return undefined;
}

/** The PEM text. Some Secrets encode it twice, once for the Secret and once as kubeconfigs do. */
function certificates(value: string | undefined): string | undefined {
  if (value === undefined || value.includes('-----BEGIN')) return value;
  const decoded = Buffer.from(value, 'base64').toString('utf8');
  return decoded.includes('-----BEGIN') ? decoded : value;
}
