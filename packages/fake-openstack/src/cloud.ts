import { serviceActor } from './actor.ts';
import { assemble } from './assemble.ts';
import { cloudsYaml, openrc } from './client-files.ts';
import { Faults } from './faults.ts';
import type { ServiceName } from './http/call.ts';
import { ServiceServer, type RequestRecord } from './http/service-server.ts';
import type { Keystone } from './keystone/api.ts';
import type { NeutronApi } from './neutron/api.ts';
import type { NeutronState } from './neutron/state.ts';
import type { OctaviaApi } from './octavia/api.ts';
import { refreshHealth } from './octavia/health.ts';
import { createLoadBalancer } from './octavia/load-balancers.ts';
import type { FailureRule, Provisioning } from './octavia/provisioning.ts';
import type { LoadBalancerRow } from './octavia/rows.ts';
import type { OctaviaState } from './octavia/state.ts';
import { accounts } from './seed.ts';
import { readSettings, type EmbeddedOptions } from './settings.ts';

/** Keystone, Neutron and Octavia in this process, served over HTTP on the loopback address. */
export interface EmbeddedOpenStack {
  /** URL of Keystone, including `/v3`. */
  readonly authUrl: string;
  readonly networkUrl: string;
  readonly loadBalancerUrl: string;
  readonly region: string;
  readonly accounts: typeof accounts;
  /** A clouds.yaml with one cloud for each account, as text. */
  readonly cloudsYaml: string;
  /** A shell file that sets OS_* for the account `demo`, as text. */
  readonly openrc: string;
  readonly faults: Faults;
  /** Direct access to the state, for seeds and for tests that bypass the API. */
  readonly keystone: Keystone;
  readonly neutron: NeutronState;
  readonly octavia: OctaviaState;
  readonly provisioning: Provisioning;
  /** Creates a load balancer that is ACTIVE immediately. The values are those of an API request. */
  addLoadBalancer(projectId: string, values: Readonly<Record<string, unknown>>): LoadBalancerRow;
  /** Makes the health checks of a monitored member fail or succeed. The format is `address:port`. */
  setMemberDown(member: string, isDown?: boolean): void;
  /** While compute is broken, new load balancers end in ERROR. */
  setComputeBroken(isBroken: boolean): void;
  /** Calls the listener after each request. Returns a function that removes the listener. */
  onRequest(listener: (record: RequestRecord) => void): () => void;
  stop(): Promise<void>;
}

export async function startEmbeddedOpenStack(
  options: EmbeddedOptions = {},
): Promise<EmbeddedOpenStack> {
  const settings = readSettings(options);
  const { clock, region } = settings;
  const { keystone, neutron, octavia, networking } = assemble(settings);
  const faults = new Faults();
  const serve = (service: ServiceName, port: number, api: Keystone | NeutronApi | OctaviaApi) =>
    new ServiceServer({ service, clock, faults, port, handle: (call) => api.handle(call) });
  const servers = [
    serve('identity', settings.ports.identity, keystone),
    serve('network', settings.ports.network, networking),
    serve('load-balancer', settings.ports.loadBalancer, octavia),
  ];
  const [identityUrl, networkUrl, loadBalancerUrl] = (await Promise.all(
    servers.map((server) => server.start()),
  )) as [string, string, string];
  const authUrl = `${identityUrl}/v3`;
  keystone.catalog.add('identity', 'keystone', authUrl);
  keystone.catalog.add('network', 'neutron', networkUrl);
  if (settings.loadBalancing === 'octavia')
    keystone.catalog.add('load-balancer', 'octavia', loadBalancerUrl);

  return {
    authUrl,
    networkUrl,
    loadBalancerUrl,
    region,
    accounts,
    cloudsYaml: cloudsYaml(authUrl, region),
    openrc: openrc(authUrl, region),
    faults,
    keystone,
    neutron,
    octavia: octavia.state,
    provisioning: octavia.parts.provisioning,
    ...loadBalancerControls(octavia),
    onRequest: (listener) => {
      const ends = servers.map((server) => server.onRequest(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    async stop() {
      octavia.parts.provisioning.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function loadBalancerControls(
  octavia: OctaviaApi,
): Pick<EmbeddedOpenStack, 'addLoadBalancer' | 'setMemberDown' | 'setComputeBroken'> {
  const { state, parts } = octavia;
  const brokenCompute: FailureRule = ({ kind }) => kind === 'create';
  let mend: (() => void) | undefined;
  return {
    addLoadBalancer(projectId, values) {
      const row = createLoadBalancer(octavia, values, serviceActor(projectId));
      parts.provisioning.settle(row);
      return row;
    },
    setMemberDown(member, isDown = true) {
      if (isDown) state.membersDown.add(member);
      else state.membersDown.delete(member);
      for (const loadBalancer of state.loadBalancers.all()) refreshHealth(state, loadBalancer);
    },
    setComputeBroken(isBroken) {
      mend?.();
      mend = isBroken ? parts.provisioning.failWhen(brokenCompute) : undefined;
    },
  };
}
