import { serviceActor } from './actor.ts';
import type { Keystone } from './keystone/api.ts';
import type { Project } from './keystone/directory.ts';
import type { NeutronState } from './neutron/state.ts';
import { networkResource } from './neutron/networks.ts';
import { addRouterInterface, routerResource } from './neutron/routers.ts';
import { subnetResource } from './neutron/subnets.ts';

export interface Account {
  readonly user: string;
  readonly password: string;
  readonly domain: string;
  readonly project: string;
}

/** The accounts of a new cloud. `demo` also has access to the project of `alt`. */
export const accounts = {
  admin: { user: 'admin', password: 'admin', domain: 'Default', project: 'admin' },
  demo: { user: 'demo', password: 'demo', domain: 'Default', project: 'demo' },
  alt: { user: 'alt', password: 'alt', domain: 'Default', project: 'alt' },
  /** The same names as `demo`, in another domain. */
  partner: { user: 'demo', password: 'partner', domain: 'Partners', project: 'demo' },
} as const satisfies Record<string, Account>;

const tenantRoles = ['member', 'load-balancer_member'];

/** Users and projects. `service` is the project of the services themselves. */
export function seedIdentity({ directory }: Keystone): {
  admin: Project;
  demo: Project;
  service: Project;
} {
  const domains = {
    Default: directory.addDomain('Default', 'default'),
    Partners: directory.addDomain('Partners'),
  };
  for (const name of ['admin', 'member', 'reader', 'service', 'load-balancer_member']) {
    directory.role(name);
  }
  const add = (account: Account & { domain: keyof typeof domains }, roles: readonly string[]) => {
    const domain = domains[account.domain];
    const project = directory.addProject(domain.id, account.project);
    const user = directory.addUser(domain.id, account.user, account.password);
    directory.grant(user.id, project.id, ...roles);
    return { project, user };
  };
  const admin = add(accounts.admin, ['admin']);
  const demo = add(accounts.demo, tenantRoles);
  const alt = add(accounts.alt, tenantRoles);
  add(accounts.partner, tenantRoles);
  directory.grant(demo.user.id, alt.project.id, ...tenantRoles);
  const service = directory.addProject(domains.Default.id, 'service');
  return { admin: admin.project, demo: demo.project, service };
}

/** An external network, and a network of the project `demo` behind a router. */
export function seedNetworks(neutron: NeutronState, demo: Project, admin: Project): void {
  const actor = serviceActor(admin.id);
  const networks = networkResource(neutron);
  const subnets = subnetResource(neutron);
  const external = networks.create(
    {
      name: 'public',
      'router:external': true,
      'provider:network_type': 'flat',
      'provider:physical_network': 'public',
    },
    actor,
    admin.id,
  );
  subnets.create(
    {
      name: 'public-v4',
      network_id: external.id,
      ip_version: 4,
      cidr: '203.0.113.0/24',
      enable_dhcp: false,
    },
    actor,
    admin.id,
  );
  const internal = networks.create({ name: 'private' }, actor, demo.id);
  const subnet = subnets.create(
    { name: 'private-v4', network_id: internal.id, ip_version: 4, cidr: '10.10.0.0/16' },
    actor,
    demo.id,
  );
  const gateway = { network_id: external.id };
  const router = routerResource(neutron).create(
    { name: 'edge', external_gateway_info: gateway },
    actor,
    demo.id,
  );
  addRouterInterface(neutron, router, subnet.id);
}
