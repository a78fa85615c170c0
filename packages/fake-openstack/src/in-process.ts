import { assemble } from './assemble.ts';
import { cloudsYaml } from './client-files.ts';
import { Faults } from './faults.ts';
import { answerUnder } from './http/answer-under-faults.ts';
import { parseBody, type Answer, type ServiceName } from './http/call.ts';
import type { Keystone } from './keystone/api.ts';
import type { NeutronState } from './neutron/state.ts';
import type { Provisioning } from './octavia/provisioning.ts';
import type { OctaviaState } from './octavia/state.ts';
import { readSettings, type EmbeddedOptions } from './settings.ts';

export interface InProcessRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | undefined;
}

/** Result of a request: an answer, or a connection closed before or after the request takes effect. */
export type InProcessOutcome = Answer | 'dropped';

/** Keystone, Neutron and Octavia without sockets. Requests are handled synchronously. */
export interface InProcessOpenStack {
  /** URL of Keystone, including `/v3`. It is valid only within this cloud. */
  readonly authUrl: string;
  readonly region: string;
  /** A clouds.yaml with one cloud for each account, as text. */
  readonly cloudsYaml: string;
  readonly faults: Faults;
  /** Direct access to the state, for seeds and for tests that bypass the API. */
  readonly keystone: Keystone;
  readonly neutron: NeutronState;
  readonly octavia: OctaviaState;
  readonly provisioning: Provisioning;
  /** Returns the service of a URL. */
  serviceAt(url: string): ServiceName;
  /** Handles the request synchronously. The caller applies the delays of faults. */
  answer(request: InProcessRequest): InProcessOutcome;
}

const addresses: Readonly<Record<ServiceName, string>> = {
  identity: 'http://identity.sandbox',
  network: 'http://network.sandbox',
  'load-balancer': 'http://load-balancer.sandbox',
};

export function createInProcessOpenStack(options: EmbeddedOptions = {}): InProcessOpenStack {
  const settings = readSettings(options);
  const { keystone, neutron, networking, octavia } = assemble(settings);
  const faults = new Faults();
  const services = { identity: keystone, network: networking, 'load-balancer': octavia };
  const authUrl = `${addresses.identity}/v3`;
  keystone.catalog.add('identity', 'keystone', authUrl);
  keystone.catalog.add('network', 'neutron', addresses.network);
  if (settings.loadBalancing === 'octavia') {
    keystone.catalog.add('load-balancer', 'octavia', addresses['load-balancer']);
  }
  return {
    authUrl,
    region: settings.region,
    cloudsYaml: cloudsYaml(authUrl, settings.region),
    faults,
    keystone,
    neutron,
    octavia: octavia.state,
    provisioning: octavia.parts.provisioning,
    serviceAt,
    answer({ method, url, headers, body }) {
      const service = serviceAt(url);
      const { pathname: path, searchParams: query } = new URL(url);
      const effects = faults.take({ service, method, path });
      const baseUrl = addresses[service];
      const call = { method, path, query, headers, body: parseBody(body ?? ''), baseUrl };
      return answerUnder(effects, () => services[service].handle(call));
    },
  };
}

function serviceAt(url: string): ServiceName {
  for (const service of ['identity', 'network', 'load-balancer'] as const) {
    if (url.startsWith(addresses[service])) return service;
  }
  throw new Error(`no service of the sandbox answers at ${url}`);
}
