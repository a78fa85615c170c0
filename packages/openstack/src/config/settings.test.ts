import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { CloudConfig } from './cloud-config.ts';
import { settingsFromCloudsYaml } from './clouds-yaml.ts';
import { cloudConfigFromSecret } from './kubernetes-secret.ts';
import { settingsFromEnvironment } from './load.ts';
import { cloudConfigFrom, type CloudSettings } from './settings.ts';

const base = { auth_url: 'http://k:5000/v3', username: 'u', password: 'p4ss' };
const scopeOf = (settings: CloudSettings) => cloudConfigFrom('c', { ...base, ...settings }).scope;
const inDefault = { id: 'default' };
const pem = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n';

describe('cloudConfigFrom', () => {
  it.each<[string, CloudSettings, CloudConfig['scope']]>([
    ['no project', {}, { kind: 'unscoped' }],
    ['a project id', { project_id: 'p' }, { kind: 'project', project: { id: 'p' } }],
    ['an old tenant id', { tenant_id: 'p' }, { kind: 'project', project: { id: 'p' } }],
    [
      'a project name',
      { project_name: 'p' },
      { kind: 'project', project: { name: 'p', domain: inDefault } },
    ],
    [
      'its domain by name',
      { project_name: 'p', project_domain_name: 'D' },
      { kind: 'project', project: { name: 'p', domain: { name: 'D' } } },
    ],
    [
      'its domain by id',
      { project_name: 'p', project_domain_id: 'd' },
      { kind: 'project', project: { name: 'p', domain: { id: 'd' } } },
    ],
    [
      'a default domain',
      { project_name: 'p', default_domain: 'd' },
      { kind: 'project', project: { name: 'p', domain: { id: 'd' } } },
    ],
    ['a domain', { domain_name: 'D' }, { kind: 'domain', domain: { name: 'D' } }],
    ['the system', { system_scope: 'all' }, { kind: 'system' }],
  ])('scope: %s', (_name, settings, scope) => {
    expect(scopeOf(settings)).toEqual(scope);
  });

  it.each<[string, CloudSettings, object]>([
    ['a password', base, { method: 'password', user: { name: 'u', domain: inDefault } }],
    ['a user id', { ...base, user_id: 'i' }, { method: 'password', user: { id: 'i' } }],
    ['a token', { auth_url: base.auth_url, token: 't' }, { method: 'token' }],
    [
      'an application credential',
      { ...base, application_credential_id: 'a', application_credential_secret: 's' },
      { method: 'application-credential', credential: { id: 'a' } },
    ],
    [
      'an application credential by name',
      {
        ...base,
        application_credential_name: 'a',
        application_credential_secret: 's',
        user_domain_name: 'D',
      },
      {
        method: 'application-credential',
        credential: { name: 'a', user: { name: 'u', domain: { name: 'D' } } },
      },
    ],
    ['an explicit type', { ...base, token: 't', auth_type: 'v3token' }, { method: 'token' }],
  ])('credentials: %s', (_name, settings, expected) => {
    expect(cloudConfigFrom('c', settings).credentials).toMatchObject(expected);
  });

  it.each<[string, CloudSettings, RegExp]>([
    ['no address', { username: 'u', password: 'p' }, /auth_url is missing/],
    ['an address with a password', { ...base, auth_url: 'http://u:s3cret@k' }, /must not contain/],
    ['no password', { auth_url: base.auth_url, username: 'u' }, /password is missing/],
    ['no user', { auth_url: base.auth_url, password: 'p' }, /username is missing/],
    ['Keystone v2', { ...base, identity_api_version: '2.0' }, /only Keystone v3/],
    ['an unsupported login', { ...base, auth_type: 'v3oidcpassword' }, /auth_type/],
    ['an unknown interface', { ...base, interface: 'private' }, /no interface/],
    ['an invalid CA certificate', { ...base, cacert: 'hello' }, /not in PEM/],
    ['half a client certificate', { ...base, cert: pem }, /must be given together/],
    [
      'an invalid endpoint',
      { ...base, network_endpoint_override: 'neutron' },
      /network endpoint is not/,
    ],
  ])('rejects %s', (_name, settings, message) => {
    expect(() => cloudConfigFrom('c', settings)).toThrow(message);
  });

  it('accepts endpoints, region, interface and certificates, and hides secrets', () => {
    const config = cloudConfigFrom('c', {
      ...base,
      region_name: 'R',
      interface: 'internalURL',
      network_endpoint_override: 'http://n:9696',
      cacert: pem,
      cert: pem,
      key: 'k3y material',
      verify: 'false',
    });
    expect(config).toMatchObject({
      region: 'R',
      interface: 'internal',
      endpoints: { network: 'http://n:9696' },
      tls: { verify: false, certificateAuthorities: pem },
    });
    expect(inspect(config, { depth: 9 })).not.toMatch(/p4ss|k3y/);
    expect(JSON.stringify(config)).not.toMatch(/p4ss|k3y/);
  });
});

describe('settingsFromCloudsYaml', () => {
  const clouds =
    'clouds:\n  one:\n    region_name: R\n    verify: no\n    auth:\n      auth_url: http://k\n      username: 7\n  two: {}\n';

  it('merges secure.yaml into the chosen cloud', () => {
    const secure = 'clouds:\n  one:\n    auth:\n      password: p\n';
    expect(settingsFromCloudsYaml(clouds, secure, 'one')).toEqual({
      name: 'one',
      settings: {
        region_name: 'R',
        verify: 'no',
        auth_url: 'http://k',
        username: '7',
        password: 'p',
      },
    });
  });

  it.each([
    ['a missing choice', clouds, undefined, /2 clouds and none is selected/],
    ['a missing cloud', clouds, 'three', /no cloud "three"/],
    ['a vendor profile', 'clouds: {a: {profile: x}}', 'a', /vendor profiles/],
    ['a file without clouds', 'a: 1', 'a', /no map "clouds"/],
    ['a cloud that is not a map', 'clouds: {a: 1}', 'a', /not a map/],
  ])('rejects %s', (_name, text, name, message) => {
    expect(() => settingsFromCloudsYaml(text, undefined, name)).toThrow(message);
  });

  it("does not quote a line that it can't parse", () => {
    const broken = 'clouds:\n  a:\n    auth:\n      password: "hunter2\n  b: [';
    const failure = (() => {
      try {
        return settingsFromCloudsYaml(broken, undefined, 'a');
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(Error);
    expect(inspect(failure, { depth: 9 })).not.toContain('hunter2');
  });
});

describe('cloudConfigFromSecret', () => {
  const encode = (data: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );

  it("reads Causeway's own fields", () => {
    const config = cloudConfigFromSecret(
      'openstack001',
      encode({
        keystoneUrl: 'http://openstack001:5000/v3/\n',
        neutronUrl: 'http://openstack001:9696/',
        username: 'someUser',
        password: 'secretPassword',
        userDomain: 'default',
        certificateAuthorityData: pem,
      }),
    );
    expect(config).toMatchObject({
      name: 'openstack001',
      authUrl: 'http://openstack001:5000/v3/',
      credentials: { method: 'password', user: { name: 'someUser', domain: { id: 'default' } } },
      scope: { kind: 'unscoped' },
      endpoints: { network: 'http://openstack001:9696/' },
    });
    expect(config.tls.certificateAuthorities).toBe(pem.trim());
  });

  it("reads the fields of Gimbal's later releases, and a certificate that is encoded twice", () => {
    const config = cloudConfigFromSecret(
      'x',
      encode({
        'backend-name': 'east',
        'auth-url': 'https://k:5000',
        'tenant-name': 'heat',
        username: 'u',
        password: 'p',
        'user-domain-name': 'Corp',
        'certificate-authority-data': Buffer.from(pem).toString('base64'),
      }),
    );
    expect(config).toMatchObject({
      name: 'east',
      credentials: { user: { name: 'u', domain: { name: 'Corp' } } },
      scope: { kind: 'project', project: { name: 'heat', domain: { name: 'Corp' } } },
      tls: { certificateAuthorities: pem },
    });
  });

  it('reads an embedded clouds.yaml', () => {
    const text =
      'clouds: {a: {cacert: /etc/ca, auth: {auth_url: "http://k", username: u, password: p}}}';
    const config = cloudConfigFromSecret('x', encode({ 'clouds.yaml': text, cacert: pem }));
    expect(config).toMatchObject({ name: 'a', authUrl: 'http://k' });
    expect(config.tls.certificateAuthorities).toBe(pem.trim());
  });

  it('names the field that is not base64, without its value', () => {
    expect(() => cloudConfigFromSecret('x', { keystoneUrl: 'http://plain' })).toThrow(
      /^the field keystoneUrl of the Secret is not base64$/,
    );
  });
});

it('OS_ variables map to the keys of clouds.yaml', () => {
  expect(
    settingsFromEnvironment({ OS_AUTH_URL: 'u', OS_REGION_NAME: '', HOME: '/', OS_USER_ID: 'i' }),
  ).toEqual({ auth_url: 'u', user_id: 'i' });
});
