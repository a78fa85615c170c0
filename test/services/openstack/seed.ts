import { request } from 'undici';
import { region, type Layout } from './layout.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Account {
  readonly user: string;
  readonly password: string;
  readonly domain: string;
  readonly project: string;
}

/** The accounts of every test cloud. `demo` may also use the project of `alt`. */
export const accounts = {
  admin: { user: 'admin', password: 'admin', domain: 'Default', project: 'admin' },
  demo: { user: 'demo', password: 'demo', domain: 'Default', project: 'demo' },
  alt: { user: 'alt', password: 'alt', domain: 'Default', project: 'alt' },
  /** The same names as `demo`, in another domain. */
  partner: { user: 'demo', password: 'partner', domain: 'Partners', project: 'demo' },
} as const satisfies Record<string, Account>;

/** An administrator's session that creates what a fresh cloud lacks. */
class Seeder {
  readonly layout: Layout;
  token = '';

  constructor(layout: Layout) {
    this.layout = layout;
  }

  async call(method: 'POST' | 'PUT' | 'GET', url: string, body?: Json): Promise<Json> {
    const answer = await request(url, {
      method,
      headers: { 'content-type': 'application/json', 'x-auth-token': this.token },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${text}`);
    const subject = answer.headers['x-subject-token'];
    if (typeof subject === 'string') this.token = subject;
    return text === '' ? {} : (JSON.parse(text) as Json);
  }

  async make(url: string, kind: string, attributes: Json): Promise<string> {
    const answer = await this.call('POST', url, { [kind]: attributes });
    return (answer[kind] as { id: string }).id;
  }

  identity(collection: string, kind: string, attributes: Json): Promise<string> {
    return this.make(`${this.layout.identityUrl}/v3/${collection}`, kind, attributes);
  }

  network(collection: string, kind: string, attributes: Json): Promise<string> {
    return this.make(`${this.layout.networkUrl}/v2.0/${collection}`, kind, attributes);
  }

  loadBalancing(collection: string, kind: string, attributes: Json): Promise<string> {
    return this.make(`${this.layout.loadBalancerUrl}/v2/lbaas/${collection}`, kind, attributes);
  }
}

/** Keystone must be running; this creates what Neutron and Octavia need to start. */
export async function seedIdentity(layout: Layout): Promise<void> {
  const seeder = await signIn(layout);
  const roles = new Map<string, string>();
  const found = await seeder.call('GET', `${layout.identityUrl}/v3/roles`);
  for (const role of found['roles'] as { id: string; name: string }[]) {
    roles.set(role.name, role.id);
  }
  for (const name of ['service', 'load-balancer_member', 'load-balancer_observer']) {
    if (!roles.has(name)) roles.set(name, await seeder.identity('roles', 'role', { name }));
  }
  const grant = async (project: string, user: string, names: readonly string[]) => {
    for (const name of names) {
      const path = `projects/${project}/users/${user}/roles/${roles.get(name)}`;
      await seeder.call('PUT', `${layout.identityUrl}/v3/${path}`);
    }
  };
  const make = async (account: Account, domain: string) => {
    const project = await seeder.identity('projects', 'project', {
      name: account.project,
      domain_id: domain,
    });
    const user = await seeder.identity('users', 'user', {
      name: account.user,
      password: account.password,
      domain_id: domain,
    });
    await grant(project, user, ['member', 'load-balancer_member']);
    return { project, user };
  };
  const partners = await seeder.identity('domains', 'domain', { name: accounts.partner.domain });
  const demo = await make(accounts.demo, 'default');
  const alt = await make(accounts.alt, 'default');
  await make(accounts.partner, partners);
  await grant(alt.project, demo.user, ['member', 'load-balancer_member']);
  await seedServices(seeder, grant);
}

type Grant = (project: string, user: string, roles: readonly string[]) => Promise<void>;

async function seedServices(seeder: Seeder, grant: Grant): Promise<void> {
  const project = await seeder.identity('projects', 'project', {
    name: 'service',
    domain_id: 'default',
  });
  const services = [
    { name: 'neutron', type: 'network', url: seeder.layout.networkUrl },
    { name: 'octavia', type: 'load-balancer', url: seeder.layout.loadBalancerUrl },
  ];
  for (const { name, type, url } of services) {
    const user = await seeder.identity('users', 'user', {
      name,
      password: name,
      domain_id: 'default',
    });
    await grant(project, user, ['admin', 'service']);
    const id = await seeder.identity('services', 'service', { name, type });
    for (const interfaceName of ['public', 'internal', 'admin']) {
      await seeder.identity('endpoints', 'endpoint', {
        service_id: id,
        interface: interfaceName,
        region_id: region,
        url,
      });
    }
  }
}

/** All services must be running: creates networks, a flavor and an availability zone. */
export async function seedInfrastructure(layout: Layout): Promise<void> {
  const seeder = await signIn(layout);
  const demo = await seeder.call(
    'GET',
    `${layout.identityUrl}/v3/projects?name=demo&domain_id=default`,
  );
  const project = (demo['projects'] as { id: string }[])[0]?.id;
  const external = await seeder.network('networks', 'network', {
    name: 'public',
    'router:external': true,
    'provider:network_type': 'flat',
    'provider:physical_network': 'public',
  });
  await seeder.network('subnets', 'subnet', {
    name: 'public-v4',
    network_id: external,
    ip_version: 4,
    cidr: '203.0.113.0/24',
    enable_dhcp: false,
  });
  const own = { project_id: project };
  const internal = await seeder.network('networks', 'network', { name: 'private', ...own });
  const subnet = await seeder.network('subnets', 'subnet', {
    name: 'private-v4',
    network_id: internal,
    ip_version: 4,
    cidr: '10.10.0.0/16',
    ...own,
  });
  const router = await seeder.network('routers', 'router', {
    name: 'edge',
    external_gateway_info: { network_id: external },
    ...own,
  });
  const interfaceUrl = `${layout.networkUrl}/v2.0/routers/${router}/add_router_interface`;
  await seeder.call('PUT', interfaceUrl, { subnet_id: subnet });
  await seedLoadBalancing(seeder);
}

async function seedLoadBalancing(seeder: Seeder): Promise<void> {
  const flavorProfile = await seeder.loadBalancing('flavorprofiles', 'flavorprofile', {
    name: 'single',
    provider_name: 'amphora',
    flavor_data: JSON.stringify({ loadbalancer_topology: 'SINGLE' }),
  });
  await seeder.loadBalancing('flavors', 'flavor', {
    name: 'single',
    description: 'One amphora.',
    flavor_profile_id: flavorProfile,
    enabled: true,
  });
  const zoneProfile = await seeder.loadBalancing(
    'availabilityzoneprofiles',
    'availability_zone_profile',
    {
      name: 'zone-a',
      provider_name: 'amphora',
      availability_zone_data: JSON.stringify({ compute_zone: 'a' }),
    },
  );
  await seeder.loadBalancing('availabilityzones', 'availability_zone', {
    name: 'zone-a',
    availability_zone_profile_id: zoneProfile,
    enabled: true,
  });
}

async function signIn(layout: Layout): Promise<Seeder> {
  const seeder = new Seeder(layout);
  const { user, password, domain, project } = accounts.admin;
  await seeder.call('POST', `${layout.identityUrl}/v3/auth/tokens`, {
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: user, password, domain: { name: domain } } },
      },
      scope: { project: { name: project, domain: { name: domain } } },
    },
  });
  return seeder;
}
