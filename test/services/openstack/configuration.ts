import fs from 'node:fs/promises';
import { databaseUrl, file, region, type CloudSettings, type Layout } from './layout.ts';

type Section = Readonly<Record<string, string | number | boolean>>;
type Configuration = Readonly<Record<string, Section>>;

/** Neutron's pipeline as its package ships it, without the parts that need other services. */
const neutronPipeline: Configuration = {
  'composite:neutron': {
    use: 'egg:Paste#urlmap',
    '/': 'versions',
    '/v2.0': 'api',
  },
  'pipeline:api': {
    pipeline: 'request_id catch_errors authtoken keystonecontext extensions application',
  },
  'filter:request_id': { 'paste.filter_factory': 'oslo_middleware:RequestId.factory' },
  'filter:catch_errors': { 'paste.filter_factory': 'oslo_middleware:CatchErrors.factory' },
  'filter:authtoken': { 'paste.filter_factory': 'keystonemiddleware.auth_token:filter_factory' },
  'filter:keystonecontext': {
    'paste.filter_factory': 'neutron.auth:NeutronKeystoneContext.factory',
  },
  'filter:extensions': {
    'paste.filter_factory': 'neutron.api.extensions:plugin_aware_extension_middleware_factory',
  },
  'app:versions': { 'paste.app_factory': 'neutron.pecan_wsgi.app:versions_factory' },
  'app:application': { 'paste.app_factory': 'neutron.api.v2.router:APIRouter.factory' },
};

/** Writes the configuration of all three services. */
export async function writeConfiguration(layout: Layout, settings: CloudSettings): Promise<void> {
  await fs.mkdir(file(layout, 'keystone'), { recursive: true });
  await fs.mkdir(file(layout, 'neutron', 'lock'), { recursive: true });
  await fs.mkdir(file(layout, 'octavia'), { recursive: true });
  const write = (name: string, configuration: Configuration) =>
    fs.writeFile(file(layout, name), render(configuration));
  await Promise.all([
    write('keystone/keystone.conf', keystone(layout, settings)),
    write('neutron/neutron.conf', neutron(layout, settings)),
    write('neutron/api-paste.ini', neutronPipeline),
    write('octavia/octavia.conf', octavia(layout, settings)),
  ]);
}

function render(configuration: Configuration): string {
  return Object.entries(configuration)
    .map(([name, section]) => {
      const lines = Object.entries(section).map(([key, value]) => `${key} = ${value}`);
      return [`[${name}]`, ...lines, ''].join('\n');
    })
    .join('\n');
}

function keystone(layout: Layout, settings: CloudSettings): Configuration {
  return {
    DEFAULT: { log_file: file(layout, 'keystone.log'), use_stderr: false },
    database: { connection: databaseUrl(layout, 'keystone') },
    token: { provider: 'fernet', expiration: settings.tokenLifetimeSeconds },
    fernet_tokens: { key_repository: file(layout, 'keystone', 'fernet') },
    credential: { key_repository: file(layout, 'keystone', 'credential') },
    // The cheapest allowed hash: tests create many tokens.
    identity: { password_hash_rounds: 4 },
    cache: { enabled: true, backend: 'dogpile.cache.memory' },
  };
}

/** Credentials of a service for Keystone; its password is its name. */
function serviceAccount(layout: Layout, name: string): Section {
  return {
    www_authenticate_uri: layout.identityUrl,
    auth_url: layout.identityUrl,
    auth_type: 'password',
    project_domain_name: 'Default',
    user_domain_name: 'Default',
    project_name: 'service',
    username: name,
    password: name,
  };
}

function neutron(layout: Layout, settings: CloudSettings): Configuration {
  return {
    DEFAULT: {
      log_file: file(layout, 'neutron.log'),
      use_stderr: false,
      bind_host: '127.0.0.1',
      bind_port: new URL(layout.networkUrl).port,
      state_path: file(layout, 'neutron'),
      api_paste_config: file(layout, 'neutron', 'api-paste.ini'),
      core_plugin: 'ml2',
      service_plugins: 'router',
      auth_strategy: 'keystone',
      transport_url: 'fake://',
      // The API in the main process. Two small workers run beside it and end with it.
      api_workers: 0,
      rpc_workers: 0,
      rpc_state_report_workers: 0,
      dhcp_agent_notification: false,
      notify_nova_on_port_status_changes: false,
      notify_nova_on_port_data_changes: false,
      pagination_max_limit: settings.pageSize ?? -1,
    },
    database: { connection: databaseUrl(layout, 'neutron') },
    oslo_concurrency: { lock_path: file(layout, 'neutron', 'lock') },
    keystone_authtoken: {
      ...serviceAccount(layout, 'neutron'),
      token_cache_time: settings.tokenCacheSeconds,
    },
    quotas: Object.fromEntries(
      [
        'network',
        'subnet',
        'port',
        'router',
        'floatingip',
        'security_group',
        'security_group_rule',
      ].map((resource) => [`quota_${resource}`, -1]),
    ),
    ml2: {
      type_drivers: 'flat,vxlan',
      tenant_network_types: 'vxlan',
      mechanism_drivers: 'openvswitch',
      extension_drivers: 'port_security',
    },
    ml2_type_flat: { flat_networks: '*' },
    ml2_type_vxlan: { vni_ranges: '1:100000' },
  };
}

function octavia(layout: Layout, settings: CloudSettings): Configuration {
  const certificates = (name: string) => file(layout, 'octavia', 'certificates', name);
  return {
    DEFAULT: { log_file: file(layout, 'octavia.log'), use_stderr: false, transport_url: 'fake://' },
    api_settings: {
      auth_strategy: 'keystone',
      enabled_provider_drivers:
        'amphora:The Octavia Amphora driver.,octavia:Deprecated alias of the amphora driver.',
      default_provider_driver: 'amphora',
      ...(settings.pageSize === undefined ? {} : { pagination_max_limit: settings.pageSize }),
    },
    database: { connection: databaseUrl(layout, 'octavia'), max_pool_size: 20 },
    keystone_authtoken: {
      ...serviceAccount(layout, 'octavia'),
      token_cache_time: settings.tokenCacheSeconds,
    },
    service_auth: serviceAccount(layout, 'octavia'),
    neutron: { endpoint: layout.networkUrl, region_name: region },
    certificates: {
      cert_generator: 'causeway_certificates',
      cert_manager: 'local_cert_manager',
      ca_certificate: certificates('ca.pem'),
      ca_private_key: certificates('ca.key'),
      server_certs_key_passphrase: 'insecure-key-do-not-use-this-key',
    },
    // The database may lag behind the in-memory queue; retry at once instead of after seconds.
    haproxy_amphora: {
      api_db_commit_retry_attempts: 2000,
      api_db_commit_retry_initial_delay: 0,
      api_db_commit_retry_backoff: 0,
    },
    controller_worker: {
      client_ca: certificates('ca.pem'),
      amphora_driver: 'amphora_noop_driver',
      compute_driver: 'causeway_compute',
      network_driver: 'allowed_address_pairs_driver',
      volume_driver: 'volume_noop_driver',
      image_driver: 'image_noop_driver',
      distributor_driver: 'distributor_noop_driver',
      loadbalancer_topology: 'SINGLE',
      amp_flavor_id: 1,
      amp_boot_network_list: '',
    },
    quotas: Object.fromEntries(
      ['load_balancer', 'listener', 'member', 'pool', 'health_monitor', 'l7policy', 'l7rule'].map(
        (resource) => [`default_${resource}_quota`, -1],
      ),
    ),
  };
}
