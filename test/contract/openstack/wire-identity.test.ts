import { beforeAll, expect, it } from 'vitest';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { Wire } from './wire.ts';

const demo = { name: 'demo', password: 'demo', domain: { name: 'Default' } };
const password = (user: object, scope?: unknown) => ({
  auth: {
    identity: { methods: ['password'], password: { user } },
    ...(scope === undefined ? {} : { scope }),
  },
});
const project = (name: string) => ({ project: { name, domain: { id: 'default' } } });

await describeEveryCloud('what Keystone says', {}, (cloud) => {
  let wire: Wire;
  beforeAll(() => {
    wire = new Wire(cloud().running);
  });

  it('lists its versions, at the root with 300', async () => {
    const root = await wire.send('GET', `${cloud().running.authUrl.replace(/\/v3$/, '')}/`);
    expect(root.status).toBe(300);
    expect(root.body.versions.values[0]?.id).toMatch(/^v3\./);
    const version = await wire.identity('GET', '');
    expect(version.body.version.links[0]?.href).toMatch(/\/v3\/$/);
  });

  it.each([
    ['a wrong password', password({ ...demo, password: 'no' }), 401, /requires authentication/],
    ['an unknown user', password({ ...demo, name: 'who' }), 401, /requires authentication/],
    ['an unknown domain', password({ ...demo, domain: { name: 'no' } }), 401, /requires auth/],
    ['an unknown project', password(demo, project('no')), 401, /requires authentication/],
    ['a project without a role', password(demo, project('service')), 401, /requires auth/],
    ['no domain', password({ name: 'demo', password: 'demo' }), 400, /find domain in user/],
    ['no auth', {}, 400, /find auth in request body/],
    ['no JSON', '{x', 400, /find valid JSON/],
    ['an unknown method', { auth: { identity: { methods: ['x'] } } }, 400, /find x in identity/],
    [
      'an unknown token',
      { auth: { identity: { methods: ['token'], token: { id: 'x' } } } },
      404,
      /Could not recognize Fernet token/,
    ],
  ])('rejects %s', async (_name, body, status, message) => {
    const answer = await wire.identity('POST', '/auth/tokens', body);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.body.error).toMatchObject({ code: status });
    expect(answer.body.error.message).toMatch(message);
    expect(answer.headers['x-openstack-request-id']).toMatch(/^req-/);
    if (status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Keystone uri=/);
  });

  it('issues unscoped tokens without a catalog, and scopes them', async () => {
    const unscoped = await wire.identity('POST', '/auth/tokens', password(demo));
    expect(unscoped.status).toBe(201);
    expect(unscoped.body.token).not.toHaveProperty('catalog');
    expect(unscoped.body.token).not.toHaveProperty('project');
    const id = String(unscoped.headers['x-subject-token']);
    const body = {
      auth: { identity: { methods: ['token'], token: { id } }, scope: project('alt') },
    };
    const scoped = await wire.identity('POST', '/auth/tokens', body);
    expect(scoped.body.token.project.name).toBe('alt');
    expect(scoped.body.token.methods.toSorted()).toEqual(['password', 'token']);
    expect(scoped.body.token.expires_at).toBe(unscoped.body.token.expires_at);
    const types = scoped.body.token.catalog.map(({ type }) => type).sort();
    expect(types).toEqual(['identity', 'load-balancer', 'network']);
    const roles = scoped.body.token.roles.map(({ name }) => name).sort();
    expect(roles).toEqual(['load-balancer_member', 'member', 'reader']);
    const projects = await wire.identity('GET', '/auth/projects', undefined, {
      'x-auth-token': id,
    });
    const names = projects.body.projects.map(({ name }) => name).sort();
    expect(names).toEqual(['alt', 'demo']);
    const catalog = await wire.identity('GET', '/auth/catalog', undefined, { 'x-auth-token': id });
    expect(catalog.status).toBe(403);
  });

  it('separates the names of domains', async () => {
    const partner = { name: 'demo', password: 'partner', domain: { name: 'Partners' } };
    const answer = await wire.identity('POST', '/auth/tokens', password(partner));
    expect(answer.body.token.user.domain.name).toBe('Partners');
  });

  it('gives system scope only to administrators', async () => {
    const admin = { name: 'admin', password: 'admin', domain: { name: 'Default' } };
    const scope = { system: { all: true } };
    const granted = await wire.identity('POST', '/auth/tokens', password(admin, scope));
    expect(granted.body.token.system).toEqual({ all: true });
    expect((await wire.identity('POST', '/auth/tokens', password(demo, scope))).status).toBe(401);
  });

  it('lets owners and administrators read tokens, and drops revoked ones', async () => {
    const fresh = await wire.identity('POST', '/auth/tokens', password(demo, project('demo')));
    const id = String(fresh.headers['x-subject-token']);
    const check = (token: string) =>
      wire.identity('GET', '/auth/tokens', undefined, {
        'x-auth-token': token,
        'x-subject-token': id,
      });
    expect((await check(id)).body.token.user.name).toBe('demo');
    expect((await check(await wire.token('admin'))).status).toBe(200);
    expect((await check(await wire.token('alt'))).status).toBe(403);
    const headers = { 'x-auth-token': id, 'x-subject-token': id };
    expect((await wire.identity('DELETE', '/auth/tokens', undefined, headers)).status).toBe(204);
    expect((await check(await wire.token('admin'))).status).toBe(404);
    const after = await wire.identity('GET', '/auth/projects', undefined, { 'x-auth-token': id });
    expect(after.status).toBe(401);
  });

  it("issues application credentials that can't choose a scope", async () => {
    const headers = { 'x-auth-token': await wire.token('demo') };
    const me = await wire.identity('GET', '/auth/tokens', undefined, {
      ...headers,
      'x-subject-token': headers['x-auth-token'],
    });
    const path = `/users/${me.body.token.user.id}/application_credentials`;
    const wanted = { application_credential: { name: uniqueName('credential') } };
    const made = await wire.identity('POST', path, wanted, headers);
    expect(made.status, made.text).toBe(201);
    const { id, secret, name } = made.body.application_credential;
    expect((await wire.identity('POST', path, wanted, headers)).status).toBe(409);
    const login = (credential: object, scope?: unknown) =>
      wire.identity('POST', '/auth/tokens', {
        auth: {
          identity: { methods: ['application_credential'], application_credential: credential },
          ...(scope === undefined ? {} : { scope }),
        },
      });
    const byId = await login({ id, secret });
    expect(byId.body.token.project.name).toBe('demo');
    expect(byId.body.token.application_credential).toEqual({ id, name, restricted: true });
    const user = { name: 'demo', domain: { name: 'Default' } };
    expect((await login({ name, secret, user })).status).toBe(201);
    expect((await login({ id, secret: 'no' })).status).toBe(401);
    expect((await login({ id: 'ffff', secret })).status).toBe(404);
    expect((await login({ id, secret }, project('alt'))).status).toBe(401);
    expect((await wire.identity('GET', path, undefined, headers)).text).not.toContain(secret);
    expect((await wire.identity('DELETE', `${path}/${id}`, undefined, headers)).status).toBe(204);
    expect((await wire.identity('DELETE', `${path}/${id}`, undefined, headers)).status).toBe(404);
    expect((await login({ id, secret })).status).toBe(404);
  });

  it('shows projects only to administrators', async () => {
    const admin = { 'x-auth-token': await wire.token('admin') };
    const found = await wire.identity('GET', '/projects?name=demo', undefined, admin);
    expect(found.body.projects).toHaveLength(2);
    expect(found.body.links.next).toBeNull();
    const paged = await wire.identity('GET', '/projects?limit=1', undefined, admin);
    expect(paged.body.projects.length).toBeGreaterThan(1);
    const tenant = { 'x-auth-token': await wire.token('demo') };
    const refused = await wire.identity('GET', '/projects', undefined, tenant);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toMatch(/identity:list_projects/);
    expect((await wire.identity('GET', '/projects')).status).toBe(401);
    expect((await wire.identity('GET', '/projects/abc', undefined, admin)).status).toBe(404);
    const twice = { project: { name: 'demo', domain_id: 'default' } };
    expect((await wire.identity('POST', '/projects', twice, admin)).status).toBe(409);
  });

  it('answers unknown paths in HTML, and wrong methods with 405', async () => {
    const admin = { 'x-auth-token': await wire.token('admin') };
    const unknown = await wire.identity('GET', '/nope', undefined, admin);
    expect(unknown.status).toBe(404);
    expect(unknown.headers['content-type']).toMatch(/^text\/html/);
    expect((await wire.identity('PUT', '/projects', {}, admin)).status).toBe(405);
  });

  it('rejects disabled users and projects', async () => {
    const admin = { 'x-auth-token': await wire.token('admin') };
    const name = uniqueName('project');
    const made = await wire.identity('POST', '/projects', { project: { name } }, admin);
    const { id } = made.body.project;
    const path = `/projects/${id}`;
    const off = await wire.identity('PATCH', path, { project: { enabled: false } }, admin);
    expect(off.body.project.enabled).toBe(false);
    expect((await wire.identity('DELETE', path, undefined, admin)).status).toBe(204);
    expect((await wire.identity('GET', path, undefined, admin)).status).toBe(404);
  });
});
