/**
 * JSON of any of the services, with the fields that the tests read. Their presence depends on the request: a
 * test that reads a missing field fails, as intended.
 */
export interface WireObject {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly message: string;
  readonly faultstring: string | undefined;
  readonly href: string;
  readonly rel: string;
  readonly secret: string;
  readonly expires_at: string;
  readonly enabled: boolean;
  readonly address: string;
  readonly weight: number;
  readonly tags: string[];
  readonly methods: string[];
  readonly project_id: string;
  readonly gateway_ip: string;
  readonly ip_address: string;
  readonly mac_address: string;
  readonly fixed_ip_address: string;
  readonly floating_ip_address: string;
  readonly port_id: string | null;
  readonly router_id: string;
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly default_pool_id: string;
  readonly provisioning_status: string;
  readonly operating_status: string;
  readonly next: string | null;

  readonly error: WireObject;
  readonly NeutronError: WireObject | undefined;
  readonly token: WireObject;
  readonly user: WireObject;
  readonly domain: WireObject;
  readonly project: WireObject;
  readonly system: WireObject;
  readonly version: WireObject;
  readonly application_credential: WireObject;
  readonly network: WireObject;
  readonly port: WireObject;
  readonly floatingip: WireObject;
  readonly port_details: WireObject;
  readonly quota: WireObject;
  readonly loadbalancer: WireObject;
  readonly listener: WireObject;
  readonly pool: WireObject;
  readonly statuses: WireObject;

  /** A list in Neutron and Octavia, an object around a list in Keystone. */
  readonly versions: readonly WireObject[] & { readonly values: readonly WireObject[] };
  readonly links: readonly WireObject[] & { readonly next: string | null };
  readonly catalog: readonly WireObject[];
  readonly roles: readonly WireObject[];
  readonly projects: readonly WireObject[];
  readonly ports: readonly WireObject[];
  readonly subnets: readonly WireObject[];
  readonly ports_links: readonly WireObject[];
  readonly floatingips: readonly WireObject[];
  readonly fixed_ips: readonly WireObject[];
  readonly allocation_pools: readonly WireObject[];
  readonly allowed_address_pairs: readonly WireObject[];
  readonly security_group_rules: readonly WireObject[];
  readonly loadbalancers: readonly WireObject[];
  readonly listeners: readonly WireObject[];
  readonly listeners_links: readonly WireObject[];
  readonly pools: readonly WireObject[];
  readonly members: readonly WireObject[];
  readonly providers: readonly WireObject[];
  readonly flavors: readonly WireObject[];
  readonly availability_zones: readonly WireObject[];
}

/** The list under a name that only the test knows. */
export function listOf(body: WireObject, collection: string): readonly WireObject[] {
  const list = (body as unknown as Record<string, readonly WireObject[] | undefined>)[collection];
  if (list === undefined) throw new Error(`there is no ${collection} in ${JSON.stringify(body)}`);
  return list;
}

/** The object under a name that only the test knows. */
export function memberOf(body: WireObject, kind: string): WireObject {
  const object = (body as unknown as Record<string, WireObject | undefined>)[kind];
  if (object === undefined) throw new Error(`there is no ${kind} in ${JSON.stringify(body)}`);
  return object;
}

/** The first of a list that must not be empty. */
export function firstOf(list: readonly WireObject[]): WireObject {
  const [first] = list;
  if (first === undefined) throw new Error('the list is empty');
  return first;
}

export function namesOf(list: readonly WireObject[]): string[] {
  return list.map(({ name }) => name);
}
