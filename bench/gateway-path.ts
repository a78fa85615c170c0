import path from 'node:path';
import {
  addressFromInteger,
  parseAddress,
  type Address,
} from '../packages/base/src/address/address.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { EngineRuleset } from '../packages/causeway/src/gateway/agent/engine-ruleset.ts';
import { Gateway } from '../packages/causeway/src/gateway/agent/gateway.ts';
import { Overrides } from '../packages/causeway/src/gateway/agent/overrides.ts';
import { StateStore } from '../packages/causeway/src/gateway/agent/store/state-store.ts';
import type { AddressAnnouncer } from '../packages/causeway/src/gateway/agent/announce/announcer.ts';
import { backendsOf } from '../packages/causeway/src/gateway/controller/backends.ts';
import { DesiredState } from '../packages/causeway/src/gateway/controller/fleet/desired-state.ts';
import {
  policyKey,
  type Assignment,
  type Policy,
} from '../packages/causeway/src/gateway/protocol/policy.ts';
import { UpdateReader } from '../packages/causeway/src/gateway/protocol/update.ts';
import { writeDelta, writeState } from '../packages/causeway/src/gateway/protocol/write-update.ts';
import { frontendFromService } from '../packages/causeway/src/services/frontend-from-service.ts';
import { withSlimMetadata } from '../packages/kubernetes/src/cache/projection.ts';
import type { EndpointSlice } from '../packages/kubernetes/src/objects/network-objects.ts';
import { Conntrack } from '../packages/nftables/src/conntrack/conntrack.ts';
import { memoryRouting } from '../packages/nftables/src/drivers/memory-driver.ts';
import { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type { Host } from '../test/services/namespaces.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { podAddress, podPort, virtualAddress, virtualPort } from './conntrack-load.ts';

const layout = {
  table: 'causeway',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const { signal } = new AbortController();
const podsInNamespace = 100;
const namespaceOf = (service: number) => `bench-${Math.floor(service / podsInNamespace)}`;
const policyOf = (namespace: string): Policy => ({
  namespace,
  name: 'web',
  ingress: [{ from: undefined, ports: undefined }],
});

function assignmentOf(address: Address, namespace: string): Assignment {
  return { address, policies: [policyKey(policyOf(namespace))], namedPorts: [] };
}

/** The addresses are not part of the path: they don't change with an endpoint. */
const withoutAddresses: AddressAnnouncer = {
  announced: () => Promise.resolve(new Set()),
  test: () => Promise.resolve(),
  announce: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
};

/**
 * The path of a changed EndpointSlice without network in between: the controller's computation and delta, the agent's
 * reading, apply and commit to the kernel, with conntrack cleaned up beside it.
 */
export class GatewayPath {
  readonly #gateway: Gateway;
  readonly #state = new DesiredState();
  readonly #pods = new Map<string, Assignment[]>();
  #confirmed = 0;
  #version = 0;
  readonly stop: () => Promise<void>;

  private constructor(gateway: Gateway, stop: () => Promise<void>) {
    this.#gateway = gateway;
    this.stop = stop;
  }

  /** Every Service has a pod of its own, which a policy selects. */
  static async start(host: Host, services: number): Promise<GatewayPath> {
    const networkNamespace = host.path;
    const driver = await NetlinkDriver.open({ table: layout.table, networkNamespace });
    const conntrack = await Conntrack.open({ networkNamespace });
    const directory = await scratchDirectory('bench-gateway-path');
    const { store, stored } = await StateStore.open(directory);
    const gateway = new Gateway({
      ruleset: new EngineRuleset(driver, layout, memoryRouting(layout.table)),
      announcer: withoutAddresses,
      overrides: await Overrides.load(path.join(directory, 'overrides.json')),
      limits: { share: 1, count: Number.MAX_SAFE_INTEGER },
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
      store,
      stored,
      deleteConnections: async (removed, each) =>
        void (await conntrack.deleteConnections(removed, each)),
      deleteStaleEntries: () => Promise.resolve(),
    });
    const loaded = new GatewayPath(gateway, async () => {
      await gateway.idle();
      await store.close();
      await conntrack.close();
      await driver.close();
      await removeDirectory(directory);
    });
    await loaded.#fill(services);
    return loaded;
  }

  async #fill(services: number): Promise<void> {
    await this.#gateway.restore(signal);
    for (let service = 0; service < services; service += 1) {
      this.#compute(service, [podAddress(service)]);
      const namespace = namespaceOf(service);
      const own = this.#pods.get(namespace) ?? [];
      own.push(assignmentOf(podAddress(service), namespace));
      this.#pods.set(namespace, own);
    }
    for (const namespace of this.#pods.keys()) this.#select(namespace, []);
    await this.#push(writeState(this.#state.all(), { generation: this.#state.generation }));
  }

  /**
   * From the line of a watch to the commit, in ms: one pod of the Service is replaced. If a policy selects the new pod,
   * the kernel checks all verdicts of the table.
   */
  async replacePod(service: number, isSelected = false): Promise<number> {
    this.#version += 1;
    const added = addressFromInteger(0x0ad00000n + BigInt(this.#version), 4);
    const line = JSON.stringify({
      type: 'MODIFIED',
      object: sliceOf([podAddress(service), added]),
    });
    const started = performance.now();
    const { object } = JSON.parse(line) as { object: EndpointSlice };
    const addresses = (withSlimMetadata(object).endpoints ?? []).flatMap((each) => each.addresses);
    this.#compute(service, addresses.map(parseAddress));
    const namespace = namespaceOf(service);
    this.#select(namespace, isSelected ? [assignmentOf(added, namespace)] : []);
    const { generation } = this.#state;
    const base = this.#confirmed;
    await this.#push(writeDelta(this.#state.since(base), { generation, base }));
    return performance.now() - started;
  }

  #compute(service: number, pods: readonly Address[]): void {
    const name = `service-${service}`;
    const spec = frontendFromService({
      metadata: { namespace: namespaceOf(service), name },
      spec: { ports: [{ name: 'http', port: virtualPort }] },
    });
    const { frontends } = backendsOf({
      spec,
      addresses: new Map([[4, virtualAddress(service)]] as const),
      slices: [sliceOf(pods)],
      nodes: new Map(),
      layer: 'Pod',
      masquerade: 'needed',
      routable: new Set(),
    });
    this.#state.setService(`${namespaceOf(service)}/${name}`, frontends);
  }

  #select(namespace: string, more: readonly Assignment[]): void {
    const assignments = [...(this.#pods.get(namespace) ?? []), ...more];
    this.#state.setPolicies(namespace, { policies: [policyOf(namespace)], assignments });
  }

  async #push(lines: Iterable<string>): Promise<void> {
    const reader = new UpdateReader();
    for (const line of lines) reader.line(line);
    const update = reader.result();
    const { generation } = update.header;
    await this.#gateway.push(`digest ${generation}`, () => update, signal);
    this.#confirmed = generation;
  }
}

function sliceOf(pods: readonly Address[]): EndpointSlice {
  return {
    addressType: 'IPv4',
    ports: [{ name: 'http', port: podPort, protocol: 'TCP' }],
    endpoints: pods.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}
