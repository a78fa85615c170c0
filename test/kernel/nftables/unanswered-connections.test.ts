import os from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  addressBytes,
  parseAddress,
  type Family,
} from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { Conntrack } from '../../../packages/nftables/src/conntrack/conntrack.ts';
import { kernelErrors } from '../../../packages/nftables/src/drivers/netlink/kernel-error.ts';
import { ExchangeSocket } from '../../../packages/netlink/src/socket.ts';
import { unansweredDeletionRequest } from '../../../packages/nftables/src/conntrack/tracked-connection.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';

const [major = 0, minor = 0] = os.release().split('.').map(Number);
/** Older kernels take the request for the deletion of one missing connection. */
const knowsFilters = major > 6 || (major === 6 && minor >= 8);

const places = {
  4: {
    client: '198.51.100.10',
    here: { virtual: '10.10.0.5', node: '10.9.0.1' },
    elsewhere: { virtual: '10.10.0.6', node: '10.9.0.2' },
  },
  6: {
    client: '2001:db8::10',
    here: { virtual: '2001:db8:1::5', node: 'fd00:9::1' },
    elsewhere: { virtual: '2001:db8:1::6', node: 'fd00:9::2' },
  },
} as const;
const nodePort = 30_001;

interface Entry {
  readonly from: number;
  readonly virtual: string;
  readonly node: string;
  readonly isAnswered?: boolean;
  readonly port?: number;
}

describe.skipIf(!canUseNamespaces())('unanswered connections', () => {
  let network: TestNetwork;
  let host: Host;
  beforeAll(async () => {
    network = await TestNetwork.create();
    host = await network.host('gateway');
  });
  afterEach(() => host.attempt('conntrack', ['-F']));
  afterAll(() => network.remove());

  const enter = async (family: Family, entry: Entry) => {
    const { from, virtual, node, isAnswered = false, port = nodePort } = entry;
    const { client } = places[family];
    const to = family === 4 ? `${node}:${port}` : `[${node}]:${port}`;
    const { code, stderr } = await host.attempt('conntrack', [
      ...['-I', '-p', 'tcp', '-s', client, '-d', virtual, '--sport', `${from}`, '--dport', '80'],
      ...['-r', virtual, '-q', client, '--reply-port-src', '80', '--reply-port-dst', `${from}`],
      ...['-t', '300', '--state', isAnswered ? 'ESTABLISHED' : 'SYN_SENT'],
      ...['-u', isAnswered ? 'SEEN_REPLY' : 'UNSET', '--dst-nat', to],
    ]);
    expect(code, stderr).toBe(0);
  };
  const entered = async (family: Family) => {
    const { stdout } = await host.attempt('conntrack', ['-L', '-f', `ipv${family}`]);
    return [...stdout.matchAll(/ sport=(\d+) dport=80 /g)]
      .map(([, from]) => Number(from))
      .sort((left, right) => left - right);
  };

  test.each([4, 6] as const)('are deleted, all others stay: IPv%s', async (family) => {
    const { here, elsewhere } = places[family];
    await enter(family, { from: 1001, ...here });
    await enter(family, { from: 1002, ...here });
    await enter(family, { from: 1003, ...here, isAnswered: true });
    await enter(family, { from: 1004, ...here, node: elsewhere.node });
    await enter(family, { from: 1005, ...here, virtual: elsewhere.virtual });
    await enter(family, { from: 1006, ...here, port: 30_002 });
    await enter(family, { from: 1007, ...elsewhere });
    const conntrack = await Conntrack.open({ networkNamespace: host.path });
    const backend = {
      ...({ protocol: 'TCP', port: parsePort(nodePort) } as const),
      virtualAddress: parseAddress(here.virtual),
      virtualPort: parsePort(80),
    };
    const removed = { address: parseAddress(here.node), keepsAnswered: true, backend };
    expect(await conntrack.deleteConnections([removed])).toBe(2);
    await conntrack.close();
    expect(await entered(family)).toEqual([1003, 1004, 1005, 1006, 1007]);
  });

  // An answer may come between the listing and the deletion: the kernel has to check it.
  test.runIf(knowsFilters).each([4, 6] as const)(
    'that are answered in the meantime stay: IPv%s',
    async (family) => {
      const { client, here } = places[family];
      await enter(family, { from: 1001, ...here });
      await enter(family, { from: 1002, ...here, isAnswered: true });
      const ask = await ExchangeSocket.open({ networkNamespace: host.path });
      const binary = (text: string) =>
        Buffer.from(addressBytes(parseAddress(text))).toString('latin1');
      for (const from of [1001, 1002]) {
        const sequence = ask.reserveSequence(1);
        const seen = {
          original: {
            protocol: 6,
            source: binary(client),
            sourcePort: from,
            destination: binary(here.virtual),
            destinationPort: 80,
          },
          reply: {
            protocol: 6,
            source: binary(here.node),
            sourcePort: nodePort,
            destination: binary(client),
            destinationPort: from,
          },
          rawOriginal: Buffer.alloc(0),
          rawId: undefined,
          family,
          isAnswered: false,
        };
        const request = unansweredDeletionRequest(seen, sequence);
        expect(kernelErrors(await ask.exchange(request, sequence, sequence))).toEqual([]);
      }
      await ask.close();
      expect(await entered(family)).toEqual([1002]);
    },
  );
});
