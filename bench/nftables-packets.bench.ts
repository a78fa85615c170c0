// What the ruleset costs the packets: the first of a connection, and those that follow.

import { addressFromInteger, parseAddress } from '../src/domain/address.ts';
import { parsePort } from '../src/domain/port.ts';
import { replacement } from '../src/nftables/diff.ts';
import { buildRuleset } from '../src/nftables/layout.ts';
import { NetlinkDriver } from '../src/nftables/netlink/netlink-driver.ts';
import type { VirtualService } from '../src/nftables/virtual-service.ts';
import { TestNetwork, type Host } from '../test/services/namespaces.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import { inTurns, packetProgram, servedPort as port } from './packets-in-turns.ts';

const backendPort = 8080;
const backendAddress = '10.78.0.21';
const settings = {
  table: 'causeway',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

/** A gateway with an address of its own that leads to the one backend, by whatever rules it has. */
interface Gateway {
  readonly host: Host;
  readonly address: string;
}

async function build(network: TestNetwork): Promise<{ client: Host; backend: Host }> {
  await network.segment('ext');
  await network.segment('int');
  const client = await network.host('client');
  await network.join(client, 'ext', '10.77.0.100/16');
  const backend = await network.host('backend');
  await network.join(backend, 'int', `${backendAddress}/24`);
  const server = backend.start(process.execPath, packetProgram, 'serve', String(backendPort));
  await new Promise<void>((resolve) => server.stdout?.once('data', () => resolve()));
  return { client, backend };
}

/** Each gateway masquerades by its routes: the backend answers through the gateway a client came by. */
async function addGateway(network: TestNetwork, number: number): Promise<Gateway> {
  const host = await network.host(`gateway${number}`);
  await host.setting('net.ipv4.ip_forward', 1);
  const address = `10.77.1.${number}`;
  await network.join(host, 'ext', `10.77.0.${number}/16`, `${address}/32`);
  await network.join(host, 'int', `10.78.0.10${number}/24`);
  return { host, address };
}

const services = (gateway: Gateway, count: number): VirtualService[] => {
  const dispatch = {
    kind: 'slots',
    endpoints: [{ address: parseAddress(backendAddress), port: parsePort(backendPort) }],
  } as const;
  const masquerade = 'always';
  const measured: VirtualService = {
    address: parseAddress(gateway.address),
    protocol: 'TCP',
    port: parsePort(port),
    dispatch,
    masquerade,
  };
  const others = Array.from(
    { length: count - 1 },
    (_, index): VirtualService => ({
      ...measured,
      address: addressFromInteger(0xc6120000n + BigInt(index), 4),
    }),
  );
  return [...others, measured];
};

async function program10k(gateway: Gateway, count: number): Promise<NetlinkDriver> {
  const driver = await NetlinkDriver.open({
    table: settings.table,
    networkNamespace: gateway.host.path,
  });
  await driver.apply(replacement(buildRuleset({ settings, services: services(gateway, count) })));
  return driver;
}

/** One rule for each service, the measured one last, as ch-k8s-lbaas writes them. */
async function programLinear(gateway: Gateway, count: number): Promise<void> {
  const rules = services(gateway, count).map(
    ({ address }) =>
      `ip daddr ${address} tcp dport ${port} mark set 0x1 ct mark set meta mark dnat to ${backendAddress}:${backendPort}`,
  );
  const text = `table ip linear {
    chain pre { type nat hook prerouting priority -100; ${rules.join('\n')}
    }
    chain post { type nat hook postrouting priority 100; masquerade fully-random; }
  }\n`;
  const result = await gateway.host.attempt('nft', ['-f', '-'], text);
  if (result.code !== 0) throw new Error(result.stderr);
}

const bars = {
  'first packet, 10,000 services beside 10': {
    of: 'ratio',
    comparison: 'at most',
    limit: 1.15,
    unit: 'ms',
  },
  'first packet, 10,000 services beside 10,000 linear rules': {
    of: 'ratio',
    comparison: 'at most',
    limit: 1,
    unit: 'ms',
  },
  'established connection, beside one hand-written DNAT rule': {
    of: 'ratio',
    comparison: 'at least',
    limit: 0.95,
    unit: 'MB/s',
  },
} as const;

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'nftables-packets',
  bars,
  async run() {
    const network = await TestNetwork.create();
    const drivers: NetlinkDriver[] = [];
    try {
      const { client } = await build(network);
      const few = await addGateway(network, 1);
      const many = await addGateway(network, 2);
      const linear = await addGateway(network, 3);
      const byHand = await addGateway(network, 4);
      drivers.push(await program10k(few, 10), await program10k(many, 10_000));
      await programLinear(linear, 10_000);
      await programLinear(byHand, 1);
      const connect = ['connect', '400'];
      return {
        'first packet, 10,000 services beside 10': await inTurns(client, connect, many, few),
        'first packet, 10,000 services beside 10,000 linear rules': await inTurns(
          client,
          connect,
          many,
          linear,
        ),
        'established connection, beside one hand-written DNAT rule': await inTurns(
          client,
          ['receive', '25'],
          many,
          byHand,
        ),
      };
    } finally {
      await Promise.all(drivers.map((driver) => driver.close()));
      await network.remove();
    }
  },
};
