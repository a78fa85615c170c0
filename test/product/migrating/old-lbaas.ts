import http from 'node:http';
import { SignJWT } from 'jose';
import { verifyToken } from '../../../packages/causeway/src/gateway/protocol/tokens.ts';
import { readV1Config } from '../../../packages/causeway/src/gateway/protocol/v1.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  legacyManagedAnnotation,
  legacyPortAnnotation,
} from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { Cloud } from '../../../packages/openstack/src/cloud.ts';
import { cloudConfigFrom } from '../../../packages/openstack/src/config/settings.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import type { Subnet } from '../../../packages/openstack/src/neutron/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { listen } from '../../../packages/base/src/network/listen.ts';
import { accounts } from '../../../packages/fake-openstack/src/seed.ts';

export const legacyTag = 'cah-loadbalancer.k8s.cloudandheat.com/managed';
const description = 'Managed by cah-loadbalancer';
const { signal } = new AbortController();
const call = { signal };

/** ch-k8s-lbaas before the move: the objects of its controller, and its agents. */
export class OldLbaas {
  readonly client: KubeClient;
  readonly neutron: Neutron;
  readonly #cloud: Cloud;
  readonly secret = Buffer.from('the secret of the old agents');
  readonly addresses = new Map<string, string>();
  floatingNetwork = '';
  subnet: Subnet | undefined;

  private constructor(client: KubeClient, cloud: Cloud) {
    this.client = client;
    this.#cloud = cloud;
    this.neutron = new Neutron(cloud.session());
  }

  static async open(
    kubeconfig: string,
    place: { readonly authUrl: string; readonly region: string },
  ): Promise<OldLbaas> {
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    const { user, password, domain, project } = accounts.demo;
    const settings = cloudConfigFrom('demo', {
      auth_url: place.authUrl,
      region_name: place.region,
      username: user,
      password,
      user_domain_name: domain,
      project_name: project,
      project_domain_name: domain,
    });
    const cloud = new Cloud(settings, { log: discardLog, metrics: noMetrics });
    const lbaas = new OldLbaas(new KubeClient({ transport, clock: systemClock }), cloud);
    for await (const network of lbaas.neutron.networks.list({ external: true }, call)) {
      lbaas.floatingNetwork = network.id;
    }
    for await (const each of lbaas.neutron.subnets.list({ family: 4 }, call)) {
      if (each.networkId !== lbaas.floatingNetwork) lbaas.subnet = each;
    }
    return lbaas;
  }

  async close(): Promise<void> {
    await this.#cloud.close();
    await this.client.close();
  }

  /** A Service as its controller leaves it: a port with a floating IP, annotations, a status. */
  async serve(name: string, port: number): Promise<string> {
    const { networkId = '', id: subnetId = '' } = this.subnet ?? {};
    const made = await this.neutron.ports.create(
      {
        name: `lbaas-${name}`,
        description,
        networkId,
        fixedIps: [{ subnetId }],
        portSecurityEnabled: false,
      },
      call,
    );
    await this.neutron.ports.replaceTags(made.id, [legacyTag], call);
    const floatingNetworkId = this.floatingNetwork;
    const floating = await this.neutron.floatingIps.create(
      { description, floatingNetworkId, portId: made.id },
      call,
    );
    await this.neutron.floatingIps.replaceTags(floating.id, [legacyTag], call);
    const annotations = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: made.id };
    const at = { namespace: 'default', name };
    await this.client.create(services, plainService(name, port, annotations));
    const status = { loadBalancer: { ingress: [{ ip: floating.address }] } };
    await this.client.patchMerge(services, at, { status }, { subresource: 'status' });
    this.addresses.set(name, floating.address);
    return made.fixedIps[0]?.address ?? '';
  }

  /** The port of a gateway, with a pair for each address that it serves. */
  async gatewayPort(name: string, pairs: readonly string[]): Promise<string> {
    const { networkId = '', id: subnetId = '' } = this.subnet ?? {};
    const allowedAddressPairs = pairs.map((pair) => ({ prefix: parsePrefix(pair) }));
    const { id } = await this.neutron.ports.create(
      { name, networkId, fixedIps: [{ subnetId }] },
      call,
    );
    await this.neutron.ports.update(id, { allowedAddressPairs }, call);
    return id;
  }

  /** The ports that its controller would find by its tag, and those that Services name for it. */
  async seen(): Promise<{ tagged: string[]; named: string[] }> {
    const tagged: string[] = [];
    for await (const port of this.neutron.ports.list({ tags: [legacyTag] }, call)) {
      tagged.push(port.id);
    }
    const named = new Set<string>();
    for await (const { metadata } of this.client.list(services)) {
      const id = metadata?.annotations?.[legacyPortAnnotation];
      if (id !== undefined) named.add(id);
    }
    return { tagged: tagged.sort(), named: [...named].sort() };
  }

  /** Remaining ports and floating IPs that were created for Services. */
  async owned(): Promise<string[]> {
    const left: string[] = [];
    for await (const { address } of this.neutron.floatingIps.list({}, call)) left.push(address);
    for await (const { name } of this.neutron.ports.list({}, call)) {
      if (name.startsWith('lbaas-')) left.push(name);
    }
    return left;
  }

  /** One of its agents, which keeps the last configuration: address and port. */
  async startAgent(): Promise<OldAgent> {
    const agent: { serves: string[]; claim: unknown } = { serves: [], claim: {} };
    const receive = async (request: http.IncomingMessage) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const token = Buffer.concat(chunks).toString();
      const claims = await verifyToken(token, [this.secret], systemClock.wallTime());
      agent.claim = claims['load-balancer-config'];
      const { frontends } = readV1Config(agent.claim, 1, 'always');
      agent.serves = [...frontends.values()].map(({ address, port }) => `${address}:${port}`);
    };
    const server = http.createServer((request, response) => {
      void receive(request).then(() => response.writeHead(200).end());
    });
    const port = await listen(server);
    const url = `http://127.0.0.1:${port}`;
    const stop = () => new Promise<unknown>((resolve) => server.close(resolve));
    return { url, stop, serves: () => agent.serves.sort(), claim: () => agent.claim };
  }

  /** Sends an agent the controller's configuration. */
  async push(url: string, claim: unknown): Promise<void> {
    const token = await new SignJWT({ 'load-balancer-config': claim })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime('15s')
      .sign(this.secret);
    const headers = { 'content-type': 'application/jwt' };
    const { status } = await fetch(`${url}/v1/apply`, { method: 'POST', headers, body: token });
    if (status !== 200) throw new Error(`it answers with ${status}`);
  }
}

export interface OldAgent {
  readonly url: string;
  serves(): readonly string[];
  /** The complete last configuration. */
  claim(): unknown;
  stop(): Promise<unknown>;
}

export function plainService(
  name: string,
  port: number,
  annotations: Readonly<Record<string, string>> = {},
  spec: object = {},
): Service {
  return {
    metadata: { namespace: 'default', name, annotations },
    spec: { type: 'LoadBalancer', ports: [{ port }], ...spec },
  };
}
