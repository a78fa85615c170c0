import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { cloudConfigFromSecret } from '../../../packages/openstack/src/config/kubernetes-secret.ts';
import { loadCloudConfig } from '../../../packages/openstack/src/config/load.ts';
import { areCredentialsInvalid } from '../../../packages/openstack/src/error.ts';
import { Fields } from '../../../packages/openstack/src/fields.ts';
import type { Token } from '../../../packages/openstack/src/keystone/token.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { route } from '../../../packages/openstack/src/route.ts';
import { freePorts } from '../../services/free-port.ts';
import { describeEveryCloud, uniqueName } from './clouds.ts';

const call = { signal: new AbortController().signal };
const unscoped = { project_name: undefined, project_domain_name: undefined };

await describeEveryCloud('Keystone', { tokenCacheSeconds: -1 }, (cloud) => {
  const revoke = async ({ value }: Token) => {
    const revoked = await request(`${cloud().running.authUrl}/auth/tokens`, {
      method: 'DELETE',
      headers: { 'x-auth-token': value.reveal(), 'x-subject-token': value.reveal() },
    });
    expect(revoked.statusCode).toBe(204);
    await revoked.body.dump();
  };

  it('issues an unscoped token, lists its projects, and scopes it to each', async () => {
    const demo = cloud().open('demo', unscoped);
    expect((await demo.session().authenticate(call)).projectId).toBeUndefined();
    const projects = await collect(demo.projects(call));
    expect(projects.map(({ name }) => name).sort()).toEqual(['alt', 'demo']);
    for (const { id } of projects) {
      const session = demo.project(id);
      expect((await session.authenticate(call)).projectId).toBe(id);
      await collect(new Neutron(session).networks.list({}, call));
    }
  });

  it('finds projects and users by ID as well as by name in a domain', async () => {
    const byName = await cloud().open('demo').session().authenticate(call);
    const partner = await cloud().open('partner').session().authenticate(call);
    expect(byName.projectId).not.toBe(partner.projectId);
    const byId = await cloud()
      .open('demo', {
        user_id: byName.userId,
        project_id: byName.projectId,
        username: undefined,
        project_name: undefined,
      })
      .session()
      .authenticate(call);
    expect(byId).toMatchObject({ projectId: byName.projectId, userId: byName.userId });
    const domainById = await cloud()
      .open('demo', {
        user_domain_name: undefined,
        user_domain_id: 'default',
        project_domain_name: undefined,
      })
      .session()
      .authenticate(call);
    expect(domainById.projectId).toBe(byName.projectId);
  });

  it('accepts an application credential, which is valid for its own project only', async () => {
    const session = cloud().open('demo').session();
    const { userId = '', projectId } = await session.authenticate(call);
    const made = await session.service('identity').post(
      route`/users/${userId}/application_credentials`,
      { application_credential: { name: uniqueName('causeway') } },
      (value) => {
        const fields = new Fields(value, 'answer').object('application_credential');
        return {
          id: fields.string('id'),
          name: fields.string('name'),
          secret: fields.string('secret'),
        };
      },
      call,
    );
    const secret = { application_credential_secret: made.secret, password: undefined };
    const byId = cloud().open('demo', {
      ...unscoped,
      ...secret,
      application_credential_id: made.id,
    });
    expect((await byId.session().authenticate(call)).projectId).toBe(projectId);
    const byName = cloud().open('demo', { ...secret, application_credential_name: made.name });
    await collect(new Neutron(byName.session()).networks.list({}, call));
    const wrong = cloud().open('demo', {
      ...secret,
      application_credential_id: made.id,
      application_credential_secret: 'wrong-secret',
    });
    const failure = await wrong
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(areCredentialsInvalid(failure)).toBe(true);
    await session
      .service('identity')
      .delete(route`/users/${userId}/application_credentials/${made.id}`, call);
    for (const identity of [
      { application_credential_id: made.id },
      { application_credential_name: made.name },
    ]) {
      const deleted = await cloud()
        .open('demo', { ...secret, ...identity })
        .session()
        .authenticate(call)
        .catch((e: unknown) => e);
      expect(areCredentialsInvalid(deleted), inspect(deleted)).toBe(true);
    }
  });

  it('accepts a token', async () => {
    const token = await cloud().open('demo', unscoped).session().tokens.token(call.signal);
    const withToken = cloud().open('demo', {
      token: token.value.reveal(),
      password: undefined,
      username: undefined,
    });
    const { projectId } = await withToken.session().authenticate(call);
    expect(projectId).toBeDefined();
    await revoke(token);
    for (const value of [token.value.reveal(), 'not-a-token']) {
      const refused = await cloud()
        .open('demo', { token: value, password: undefined, username: undefined })
        .session()
        .authenticate(call)
        .catch((e: unknown) => e);
      expect(areCredentialsInvalid(refused), inspect(refused)).toBe(true);
    }
  });

  it('does not report wrong credentials for an address without Keystone', async () => {
    const { authUrl, networkUrl } = cloud().running;
    for (const auth_url of [`${authUrl.replace(/\/v3\/?$/, '')}/elsewhere`, networkUrl]) {
      const failure = await cloud()
        .open('demo', { auth_url })
        .session()
        .authenticate(call)
        .catch((e: unknown) => e);
      expect(failure, inspect(failure)).toMatchObject({ status: 404, invalidCredentials: false });
    }
  });

  it('distinguishes wrong credentials, a forbidden project and an unreachable Keystone', async () => {
    const failureOf = (change: Record<string, string | undefined>) =>
      cloud()
        .open('demo', change, {
          retry: { attempts: 1, backoff: { baseMs: 1, maxMs: 1, jitter: 0 } },
        })
        .session()
        .authenticate(call)
        .catch((e: unknown) => e);
    for (const change of [{ password: 'wrong' }, { username: 'nobody' }]) {
      const failure = await failureOf(change);
      expect(failure).toMatchObject({ code: 'unauthorized', status: 401 });
      expect(areCredentialsInvalid(failure)).toBe(true);
    }
    for (const project_name of ['service', 'no-such-project']) {
      const failure = await failureOf({ project_name });
      expect(failure).toMatchObject({ code: 'forbidden', invalidCredentials: false });
    }
    const [port] = await freePorts(1);
    const failure = await failureOf({ auth_url: `http://127.0.0.1:${port}` });
    expect(failure).toMatchObject({ code: 'unavailable', outcome: 'not-sent' });
    expect(areCredentialsInvalid(failure)).toBe(false);
  });

  it('revokes a token, and the next call gets another', async () => {
    const session = cloud().open('demo').session();
    const { networks } = new Neutron(session);
    await collect(networks.list({}, call));
    const before = await session.tokens.token(call.signal);
    await revoke(before);
    await Promise.all(Array.from({ length: 20 }, () => collect(networks.list({}, call))));
    expect(await session.tokens.token(call.signal)).not.toBe(before);
  });

  it('revokes the unscoped token, and scoped tokens of projects stay valid', async () => {
    const demo = cloud().open('demo', unscoped);
    const [project] = await collect(demo.projects(call));
    const session = demo.project(project?.id ?? '');
    const { networks } = new Neutron(session);
    await collect(networks.list({}, call));
    const parent = await demo.session().tokens.token(call.signal);
    const child = await session.tokens.token(call.signal);
    await revoke(child);
    await revoke(parent);
    await Promise.all(Array.from({ length: 20 }, () => collect(networks.list({}, call))));
    expect(await session.tokens.token(call.signal)).not.toBe(child);
    expect(await demo.session().tokens.token(call.signal)).not.toBe(parent);
  });

  it('is configured by clouds.yaml with secure.yaml, by OS_ variables and by a Kubernetes Secret', async () => {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-clouds-'));
    try {
      const { authUrl, region } = cloud().running;
      await fs.writeFile(
        path.join(directory, 'clouds.yaml'),
        `clouds:\n  here:\n    region_name: ${region}\n    auth:\n      auth_url: ${authUrl}\n      username: demo\n      project_name: demo\n`,
      );
      await fs.writeFile(
        path.join(directory, 'secure.yaml'),
        'clouds:\n  here:\n    auth:\n      password: demo\n',
      );
      const fromFile = await loadCloudConfig({ environment: {}, workingDirectory: directory });
      const fromVariables = await loadCloudConfig({
        environment: {
          OS_AUTH_URL: authUrl,
          OS_USERNAME: 'demo',
          OS_PASSWORD: 'demo',
          OS_PROJECT_NAME: 'demo',
          OS_USER_DOMAIN_NAME: 'Default',
          OS_PROJECT_DOMAIN_ID: 'default',
          OS_INTERFACE: 'publicURL',
        },
        workingDirectory: directory,
      });
      const data = {
        keystoneUrl: authUrl,
        username: 'demo',
        password: 'demo',
        userDomain: 'default',
      };
      const fromSecret = cloudConfigFromSecret(
        'backend',
        Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
        ),
      );
      for (const config of [fromFile, fromVariables, fromSecret]) {
        const projects = await collect(cloud().openWith(config).projects(call));
        expect(projects.map(({ name }) => name).sort()).toEqual(['alt', 'demo']);
      }
    } finally {
      await fs.rm(directory, { recursive: true });
    }
  });
});
