import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  parseAddress as address,
  type Address,
} from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import type { RemovedBackend } from '../../../packages/nftables/src/compile/layout-change.ts';
import { Conntrack } from '../../../packages/nftables/src/conntrack/conntrack.ts';
import { canUseNamespaces, type Host } from '../../services/namespaces.ts';
import { backends, backends6, Lab, service, virtual4, virtual6 } from './lab.ts';

const gone = (
  number: number,
  protocol: 'TCP' | 'UDP',
  six = false,
  virtualPort = 80,
): RemovedBackend => ({
  address: address(six ? `fd78::2${number}` : `10.78.0.2${number}`),
  backend: {
    protocol,
    port: port(8080),
    virtualAddress: six ? virtual6 : virtual4,
    virtualPort: port(virtualPort),
  },
});

describe.skipIf(!canUseNamespaces())('connections to removed backends', () => {
  let lab: Lab;
  let first: Host;
  let second: Host;

  beforeAll(async () => {
    lab = await Lab.create();
    first = await lab.gateway(1);
    second = await lab.gateway(2);
    await lab.backend(1, 8080);
    await lab.backend(2, 8080);
    await lab.take(first);
  });
  afterAll(() => lab.remove());

  const withConntrack = async <T>(host: Host, work: (conntrack: Conntrack) => Promise<T>) => {
    const conntrack = await Conntrack.open({ networkNamespace: host.path });
    try {
      return await work(conntrack);
    } finally {
      await conntrack.close();
    }
  };
  const listed = async (host: Host, family: string, text: string) => {
    const listing = await host.attempt('conntrack', ['-L', '-f', family]);
    return listing.stdout.split('\n').filter((line) => line.includes(text)).length;
  };
  const protocolsOf = async (host: Host, text: string) => {
    const { stdout } = await host.attempt('conntrack', ['-L', '-f', 'ipv4']);
    const lines = stdout.split('\n').filter((line) => line.includes(text));
    return new Set(lines.map((line) => line.split(' ')[0]));
  };

  test('are deleted, those to the others are not', async () => {
    await lab.program(first, {
      services: [
        service({ protocol: 'UDP' }),
        service({ protocol: 'UDP', address: virtual6, dispatch: backends6(1, 2) }),
      ],
    });
    const many = (virtual: string, from: number) =>
      Array.from({ length: 30 }, (_, index) => ({
        protocol: 'UDP' as const,
        address: virtual,
        port: 80,
        localPort: from + index,
      }));
    await lab.ask(lab.client, ...many(virtual4, 47_000), ...many(virtual6, 47_500));
    const kept = await listed(first, 'ipv4', 'src=10.78.0.22');
    const before = await listed(first, 'ipv4', 'src=10.78.0.21');
    expect(before).toBeGreaterThan(0);
    await withConntrack(first, async (conntrack) => {
      expect(await conntrack.deleteConnections([gone(1, 'UDP', false, 81)])).toBe(0);
      expect(await conntrack.deleteConnections([gone(1, 'TCP')])).toBe(0);
      expect(await conntrack.deleteConnections([gone(1, 'UDP')])).toBe(before);
      expect(await conntrack.deleteConnections([gone(2, 'UDP', true)])).toBeGreaterThan(0);
    });
    expect(await listed(first, 'ipv4', 'src=10.78.0.21')).toBe(0);
    expect(await listed(first, 'ipv4', 'src=10.78.0.22')).toBe(kept);
    expect(await listed(first, 'ipv6', 'src=fd78::22')).toBe(0);
  });

  test.each(['TCP', 'UDP'] as const)(
    'of a removed service are deleted, whichever backend they use: %s',
    async (protocol) => {
      for (const [address, dispatch] of [
        [virtual4, backends(1, 2)],
        [virtual6, backends6(1, 2)],
      ] as const) {
        await lab.program(first, { services: [service({ protocol, address, dispatch })] });
        const asked = Array.from({ length: 20 }, (_, index) => ({
          ...{ protocol, address, port: 80 },
          ...(protocol === 'UDP' ? { localPort: 45_000 + index } : {}),
        }));
        await lab.ask(lab.client, ...asked);
      }
      await withConntrack(first, async (conntrack) => {
        const removed = (address: Address, number: number) => [
          { service: { address, protocol, port: port(number) } },
        ];
        for (const [address, family, hosts] of [
          [virtual4, 'ipv4', '10.78.0.2'],
          [virtual6, 'ipv6', 'fd78::2'],
        ] as const) {
          const tracked = () => listed(first, family, `src=${hosts}`);
          const before = await tracked();
          expect(before).toBeGreaterThan(0);
          expect(await conntrack.deleteConnections(removed(address, 81))).toBe(0);
          const attempts = removed(address, 80).map((each) => ({ ...each, keepsAnswered: true }));
          expect(await conntrack.deleteConnections(attempts)).toBe(0);
          expect(await tracked()).toBe(before);
          expect(await conntrack.deleteConnections(removed(address, 80))).toBeGreaterThan(0);
          const others = await first.attempt('conntrack', [
            '-L',
            '-f',
            family,
            '-p',
            protocol.toLowerCase(),
          ]);
          expect(others.stdout).not.toContain(`src=${hosts}`);
        }
      });
    },
  );

  test('are stale if their endpoint serves no longer, not if it is only left out for new flows', async () => {
    const udp = { protocol: 'UDP' } as const;
    await lab.program(first, { services: [service(udp)] });
    const ask = Array.from({ length: 30 }, (_, index) => ({
      ...udp,
      address: virtual4,
      port: 80,
      localPort: 44_000 + index,
    }));
    await lab.ask(lab.client, ...ask);
    const alone = service({ ...udp, dispatch: backends(1) });
    const serving = [{ address: address('10.78.0.22'), port: port(8080) }];
    await withConntrack(first, async (conntrack) => {
      expect(await conntrack.deleteStaleEntries([{ ...alone, serving }])).toBe(0);
      expect(await conntrack.deleteStaleEntries([alone])).toBeGreaterThan(0);
    });
    expect(await listed(first, 'ipv4', 'src=10.78.0.22')).toBe(0);
    expect(await listed(first, 'ipv4', 'src=10.78.0.21')).toBeGreaterThan(0);
  });

  test('stay if the backend still serves and has answered; unanswered ones are deleted', async () => {
    await lab.program(first, {
      services: [service({ protocol: 'UDP', dispatch: backends(1, 9) })],
    });
    const ask = Array.from({ length: 30 }, (_, index) => ({
      protocol: 'UDP' as const,
      address: virtual4,
      port: 80,
      localPort: 46_000 + index,
      timeoutMs: 2_000,
    }));
    const answers = await lab.ask(lab.client, ...ask);
    const served = answers.filter(({ error }) => error === undefined).length;
    // There is no server at the second address.
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThan(30);
    const stillThere = (number: number) => ({ ...gone(number, 'UDP'), keepsAnswered: true });
    await withConntrack(first, async (conntrack) => {
      expect(await conntrack.deleteConnections([stillThere(1)])).toBe(0);
      expect(await conntrack.deleteConnections([stillThere(9)])).toBe(30 - served);
    });
  });

  test('are also found if they were picked up from the server', async () => {
    const services = [service({ dispatch: backends(1) })];
    await lab.program(first, { services });
    await lab.program(second, { services });
    const { answers } = await lab.begin(lab.client, {
      address: virtual4,
      port: 80,
      // Four seconds: long enough to be moved in the meantime.
      say: 'download 400',
    });
    await lab.yield(first);
    await lab.take(second);
    const [download] = await answers;
    expect(download?.error).toBeUndefined();
    // The first packet after the move decides the direction in which the entry is stored.
    const backwards = () => listed(second, 'ipv4', 'src=10.78.0.21 dst=10.77.0.100 sport=8080');
    const removed = await withConntrack(second, (conntrack) =>
      conntrack.deleteConnections([gone(1, 'TCP')]),
    );
    expect(removed).toBe(1);
    expect(await backwards()).toBe(0);
  });

  test('of a node are deleted except answered TCP connections, and on request all of them', async () => {
    await lab.yield(second);
    await lab.take(first);
    await lab.program(first, { services: [service({ protocol: 'UDP' }), service()] });
    const ask = () =>
      lab.ask(
        lab.client,
        ...Array.from({ length: 20 }, () => ({ address: virtual4, port: 80 })),
        ...Array.from({ length: 20 }, (_, index) => ({
          protocol: 'UDP' as const,
          address: virtual4,
          port: 80,
          localPort: 48_000 + index,
        })),
      );
    await ask();
    await withConntrack(first, async (conntrack) => {
      const node = { address: address('10.78.0.21') };
      const virtual = new Set([address(virtual4)]);
      const foreign = new Set([address('192.0.2.99')]);
      // Connections that another component rewrites are left alone.
      expect(await conntrack.deleteConnections([node], undefined, foreign)).toBe(0);
      expect(await conntrack.deleteRewritten(foreign)).toBe(0);
      expect(await protocolsOf(first, 'src=10.78.0.21')).toEqual(new Set(['tcp', 'udp']));
      expect(await conntrack.deleteConnections([node], undefined, virtual)).toBeGreaterThan(0);
      expect(await protocolsOf(first, 'src=10.78.0.21')).toEqual(new Set(['tcp']));
      expect(await conntrack.deleteRewritten(virtual)).toBeGreaterThan(0);
      expect(await protocolsOf(first, 'src=10.78.0.2')).toEqual(new Set());
    });
  });
});
