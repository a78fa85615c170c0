import { CausewayError } from '@causeway/base/error/causeway-error';
import { parseHttpUrl } from '../keystone/endpoint.ts';
import { Secret } from '../secret.ts';
import type {
  CloudConfig,
  Credentials,
  DomainRef,
  EndpointInterface,
  InDomain,
  Scope,
} from './cloud-config.ts';

/**
 * A cloud as its source writes it, with the keys of clouds.yaml (`auth` is flattened). Files are already
 * read: `cacert` and `cert` hold certificates and `key` holds a key, not paths.
 */
export type CloudSettings = Readonly<Record<string, string | undefined>>;

/**
 * Validates the settings and converts them into a configuration. Its errors never contain a value that may be
 * secret.
 */
export function cloudConfigFrom(name: string, settings: CloudSettings): CloudConfig {
  const authUrl = required(settings, 'auth_url', name);
  parseHttpUrl(authUrl, 'auth_url');
  const major = settings['identity_api_version'];
  if (major !== undefined && !/^v?3/.test(major)) {
    throw new CausewayError('unsupported', `cloud ${name}: only Keystone v3 is supported`, {
      hint: 'Remove identity_api_version or set it to 3.',
    });
  }
  const credentials = credentialsFrom(name, settings);
  const region = settings['region_name'];
  return {
    name,
    authUrl,
    credentials,
    scope: credentials.method === 'application-credential' ? asIssued : scopeFrom(settings),
    ...(region === undefined ? {} : { region }),
    interface: interfaceFrom(name, settings['interface'] ?? settings['endpoint_type'] ?? 'public'),
    endpoints: endpointsFrom(settings),
    tls: tlsFrom(name, settings),
  };
}

const asIssued: Scope = { kind: 'as-issued' };

const authTypes: Readonly<Record<string, Credentials['method']>> = {
  password: 'password',
  v3password: 'password',
  token: 'token',
  v3token: 'token',
  v3applicationcredential: 'application-credential',
};

function credentialsFrom(name: string, settings: CloudSettings): Credentials {
  const method = methodOf(name, settings);
  if (method === 'token') {
    return { method, token: new Secret(required(settings, 'token', name)) };
  }
  if (method === 'application-credential') {
    const secret = new Secret(required(settings, 'application_credential_secret', name));
    const id = settings['application_credential_id'];
    if (id !== undefined) return { method, credential: { id }, secret };
    const credential = required(settings, 'application_credential_name', name);
    return { method, credential: { name: credential, user: userFrom(name, settings) }, secret };
  }
  const password = new Secret(required(settings, 'password', name));
  return { method, user: userFrom(name, settings), password };
}

function methodOf(name: string, settings: CloudSettings): Credentials['method'] {
  const type = settings['auth_type'];
  if (type === undefined) {
    if (settings['application_credential_secret'] !== undefined) return 'application-credential';
    return settings['password'] === undefined && settings['token'] !== undefined
      ? 'token'
      : 'password';
  }
  const method = Object.hasOwn(authTypes, type) ? authTypes[type] : undefined;
  if (method !== undefined) return method;
  throw new CausewayError('unsupported', `cloud ${name}: auth_type ${JSON.stringify(type)}`, {
    hint: `Use one of ${Object.keys(authTypes).join(', ')}.`,
  });
}

function userFrom(name: string, settings: CloudSettings): InDomain {
  const id = settings['user_id'];
  if (id !== undefined) return { id };
  return { name: required(settings, 'username', name), domain: domainFrom(settings, 'user') };
}

function scopeFrom(settings: CloudSettings): Scope {
  const projectId = settings['project_id'] ?? settings['tenant_id'];
  if (projectId !== undefined) return { kind: 'project', project: { id: projectId } };
  const projectName = settings['project_name'] ?? settings['tenant_name'];
  if (projectName !== undefined) {
    const domain = domainFrom(settings, 'project');
    return { kind: 'project', project: { name: projectName, domain } };
  }
  if (settings['system_scope'] !== undefined) return { kind: 'system' };
  const domain = domainRef(settings['domain_id'], settings['domain_name']);
  return domain === undefined ? { kind: 'unscoped' } : { kind: 'domain', domain };
}

/** A missing domain means Keystone's first domain. */
function domainFrom(settings: CloudSettings, whose: 'user' | 'project'): DomainRef {
  return (
    domainRef(settings[`${whose}_domain_id`], settings[`${whose}_domain_name`]) ??
    domainRef(settings['default_domain_id'], settings['default_domain_name']) ??
    domainRef(settings['default_domain'], undefined) ?? { id: 'default' }
  );
}

function domainRef(id: string | undefined, name: string | undefined): DomainRef | undefined {
  if (id !== undefined) return { id };
  return name === undefined ? undefined : { name };
}

function interfaceFrom(name: string, text: string): EndpointInterface {
  const plain = text.replace(/URL$/, '');
  if (plain === 'public' || plain === 'internal' || plain === 'admin') return plain;
  throw new CausewayError('invalid', `cloud ${name}: no interface ${JSON.stringify(text)}`, {
    hint: 'Use public, internal or admin.',
  });
}

function endpointsFrom(settings: CloudSettings): CloudConfig['endpoints'] {
  const overrides = {
    identity: settings['identity_endpoint_override'],
    network: settings['network_endpoint_override'],
    'load-balancer': settings['load_balancer_endpoint_override'],
  };
  const given = Object.entries(overrides).filter(([, url]) => url !== undefined);
  for (const [service, url] of given) parseHttpUrl(url ?? '', `${service} endpoint`);
  return Object.fromEntries(given);
}

function tlsFrom(name: string, settings: CloudSettings): CloudConfig['tls'] {
  const { cacert, cert, key } = settings;
  if (cacert !== undefined && !cacert.includes('-----BEGIN CERTIFICATE-----')) {
    throw new CausewayError('invalid', `cloud ${name}: the CA certificate is not in PEM format`);
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new CausewayError('invalid', `cloud ${name}: cert and key must be given together`);
  }
  return {
    verify: !isNo(settings['verify']) && !isYes(settings['insecure']),
    ...(cacert === undefined ? {} : { certificateAuthorities: cacert }),
    ...(cert === undefined || key === undefined
      ? {}
      : { clientCertificate: { certificate: cert, key: new Secret(key) } }),
  };
}

function isYes(text: string | undefined): boolean {
  return text !== undefined && /^(?:1|true|yes|on)$/i.test(text);
}

function isNo(text: string | undefined): boolean {
  return text !== undefined && /^(?:0|false|no|off)$/i.test(text);
}

function required(settings: CloudSettings, key: string, cloud: string): string {
  const value = settings[key];
  if (value !== undefined) return value;
  throw new CausewayError('invalid', `cloud ${cloud}: ${key} is missing`);
}
