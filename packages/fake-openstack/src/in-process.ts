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

/** What becomes of a request: an answer, or a connection that breaks before or after the work. */
export type InProcessOutcome = Answer | 'dropped';

/** Keystone, Neutron and Octavia without sockets: requests are handed over and answered at once. */
export interface InProcessOpenStack {
  /** Keystone's, with `/v3`; known to nobody but this cloud. */
  readonly authUrl: string;
  readonly region: string;
  /** The text of a clouds.yaml with one cloud for each account. */
  readonly cloudsYaml: string;
  readonly faults: Faults;
  /** The state itself, for seeds and for tests that look behind the API. */
  readonly keystone: Keystone;
  readonly neutron: NeutronState;
  readonly octavia: OctaviaState;
  readonly provisioning: Provisioning;
  /** Which service an address belongs to. */
  serviceAt(url: string): ServiceName;
  /** Does what is asked, in one go. Delays of faults are left to who hands the request over. */
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
