import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { events, services } from '../packages/kubernetes/src/objects/resources.ts';
import { never, type Requests, type Surroundings } from './gateway-load.ts';

/**
 * The controller's calls for each Service, sequential for each Service and with this many Services in
 * parallel, and nothing else: no watches, no decisions, no gateways.
 */
export async function plainScript(
  surroundings: Surroundings,
  count: number,
  concurrency: number,
  calls: Requests,
): Promise<void> {
  const each = (what: string) => Math.round((calls[what] ?? 0) / count);
  const patches = each('kubernetes PATCH services');
  const statuses = each('kubernetes PATCH services/status');
  const eventCount = each('kubernetes POST events');
  const { client, neutron, place } = surroundings;
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const work = async () => {
    for (const index of indexes) {
      const name = { namespace: `many-${index}`, name: 'web' };
      const port = await neutron.ports.create(
        {
          networkId: place.network,
          name: `plain-${index}`,
          description: 'plain',
          fixedIps: [{ subnetId: place.subnet }],
          portSecurityEnabled: false,
        },
        { signal: never },
      );
      await neutron.ports.replaceTags(port.id, ['plain'], { signal: never });
      await neutron.floatingIps.create(
        {
          description: `plain ${port.id}`,
          floatingNetworkId: place.floatingNetwork,
          subnetId: place.floatingSubnet,
          portId: port.id,
        },
        { signal: never },
      );
      for (let patch = 0; patch < patches; patch += 1) {
        const annotations = { [`plain/${patch}`]: `${port.id} ${patch}` };
        await client.patchMerge(services, name, { metadata: { annotations } });
      }
      for (let patch = 0; patch < statuses; patch += 1) {
        const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } };
        const condition = { type: 'plain', status: 'True', reason: `R${patch}`, message: '' };
        const lastTransitionTime = '2026-01-01T00:00:00Z';
        await client.patchMerge(
          services,
          name,
          { status: { ...status, conditions: [{ ...condition, lastTransitionTime }] } },
          { subresource: 'status' },
        );
      }
      for (let event = 0; event < eventCount; event += 1) {
        await client.create(events, {
          metadata: { namespace: name.namespace, name: `web.${event}` },
          involvedObject: { kind: 'Service', ...name },
          reason: 'Plain',
          message: 'as the controller writes',
          type: 'Normal',
        });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/**
 * Lists the objects that a controller needs, in the same pages, and does nothing with them. Returns the time.
 */
export async function listAll({ place, neutron }: Surroundings): Promise<number> {
  const config = parse(place.kubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { token: string } }];
  };
  const { cluster } = config.clusters[0];
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const dispatcher = new Agent({ connect: { ca }, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${config.users[0].user.token}` };
  // Both fetch a token; that is not compared.
  await neutron.networks.get(place.network, { signal: never });
  const started = performance.now();
  const listKind = async (kind: string) => {
    let after = '';
    do {
      const url = `${cluster.server}${kind}?limit=500&continue=${encodeURIComponent(after)}`;
      const answer = await request(url, { dispatcher, headers });
      const list = (await answer.body.json()) as { metadata: { continue?: string } };
      after = list.metadata.continue ?? '';
    } while (after !== '');
  };
  const listPorts = async () => {
    for await (const _ of neutron.floatingIps.list({}, { signal: never })) continue;
    for await (const _ of neutron.ports.list({ networkId: place.network }, { signal: never }))
      continue;
  };
  await Promise.all([
    ...['/api/v1/services', '/api/v1/nodes', '/apis/discovery.k8s.io/v1/endpointslices'].map(
      listKind,
    ),
    listPorts(),
  ]);
  const elapsed = performance.now() - started;
  await dispatcher.close();
  return elapsed;
}
