import { parameter } from '../http/call.ts';
import type { NeutronApi } from './api.ts';
import { notFound } from './refusals.ts';

const aliases = [
  'allowed-address-pairs',
  'empty-string-filtering',
  'external-net',
  'ext-gw-mode',
  'filter-validation',
  'fip-port-details',
  'ip-substring-filtering',
  'net-mtu',
  'pagination',
  'port-security',
  'port-security-groups-filtering',
  'project-id',
  'provider',
  'quotas',
  'quota_details',
  'revision-if-match',
  'router',
  'security-group',
  'security-groups-normalized-cidr',
  'sorting',
  'standard-attr-description',
  'standard-attr-revisions',
  'standard-attr-tag',
  'standard-attr-timestamp',
];

/** Extensions of this Neutron, by their aliases. */
export function addExtensionRoutes(api: NeutronApi, more: readonly string[]): void {
  const all = [...aliases, ...more].map((alias) => ({
    alias,
    name: alias,
    description: alias,
    updated: '2022-01-01T00:00:00-00:00',
    links: [],
  }));
  api.route('GET', '/extensions', () => ({ status: 200, body: { extensions: all } }));
  api.route('GET', '/extensions/:alias', (call) => {
    const alias = parameter(call, 'alias');
    const extension = all.find((candidate) => candidate.alias === alias);
    if (extension === undefined) {
      throw notFound('HTTPNotFound', `Extension with alias ${alias} does not exist`);
    }
    return { status: 200, body: { extension } };
  });
  for (const empty of ['agents', 'subnetpools', 'availability_zones', 'address-scopes']) {
    const collection = empty.replace('-', '_');
    api.route('GET', `/${empty}`, () => ({ status: 200, body: { [collection]: [] } }));
  }
}
