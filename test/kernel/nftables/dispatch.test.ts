import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import { buildRuleset } from '../../../packages/nftables/src/compile/layout.ts';
import { tracePacket } from '../../../packages/nftables/src/trace/packet-tracer.ts';
import type { VirtualService } from '../../../packages/nftables/src/compile/virtual-service.ts';
import { canUseNamespaces, type Host } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  backends,
  backends6,
  Lab,
  service,
  settings,
  virtual4,
  virtual6,
  whoAnswered,
} from './lab.ts';

describe.skipIf(!canUseNamespaces())('packets through a gateway', () => {
  let lab: Lab;
  let gateway: Host;
  let backend: Host;

  beforeAll(async () => {
    lab = await Lab.create();
    gateway = await lab.gateway(1);
    await lab.take(gateway);
    backend = await lab.backend(1, 8080, 30_080);
    await lab.backend(2, 8080, 30_080);
    await lab.serve(gateway, 'gateway', 22, 80);
  });
  afterAll(() => lab.remove());

  const program = (...services: VirtualService[]) => lab.program(gateway, { services });

  const manyPorts = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => from + index);

  test('go to the backend that the tracer predicts, for each client port', async () => {
    const services = [service()];
    await program(...services);
    const ports = manyPorts(40_000, 60);
    const answers = await lab.ask(
      lab.client,
      ...ports.map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    const ruleset = buildRuleset({ settings, services });
    const expected = ports.map((sourcePort) => {
      const { packet } = tracePacket(
        ruleset,
        {
          source: address('10.77.0.100'),
          destination: virtual4,
          protocol: 6,
          sourcePort,
          destinationPort: 80,
        },
        { from: 'network', localAddresses: [virtual4] },
      );
      return packet.destination === '10.78.0.21' ? 'backend1' : 'backend2';
    });
    expect(answers.map((answer) => whoAnswered(answer).backend)).toEqual(expected);
    expect(new Set(expected).size).toBe(2);
    expect(answers.every((answer) => whoAnswered(answer).client === '10.77.0.100')).toBe(true);
  });

  test.each([
    ['IPv4', virtual4, backends(1, 2)],
    ['IPv6', virtual6, backends6(1, 2)],
  ] as const)('reach both backends by TCP and UDP over %s', async (_, virtual, dispatch) => {
    await program(
      service({ address: virtual, dispatch }),
      service({ address: virtual, dispatch, protocol: 'UDP' }),
    );
    for (const protocol of ['TCP', 'UDP'] as const) {
      const answers = await lab.ask(
        lab.client,
        ...manyPorts(41_000, 30).map((localPort) => ({
          protocol,
          address: virtual,
          port: 80,
          localPort,
        })),
      );
      const seen = new Set(answers.map((answer) => whoAnswered(answer).backend));
      expect(seen, protocol).toEqual(new Set(['backend1', 'backend2']));
    }
  });

  test('are counted for each service', async () => {
    await program(service());
    await lab.ask(
      lab.client,
      ...manyPorts(42_000, 5).map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    const counters = await lab.driver(gateway).counters('counts4');
    expect(counters.get('10.77.0.50 . 6 . 80')?.packets).toBe(5n);
  });

  test('reach nothing else on a virtual address, not even listeners of the gateway', async () => {
    await program(service());
    const [ssh, dns, own] = await lab.ask(
      lab.client,
      { address: virtual4, port: 22 },
      { address: virtual4, port: 22, protocol: 'UDP' },
      { address: '10.77.0.11', port: 22 },
    );
    expect(ssh?.error).toBe('ECONNREFUSED');
    expect(dns?.error).toBe('ECONNREFUSED');
    expect(own?.text).toMatch(/^gateway/);
    await lab.client.run('ping', '-c', '1', '-W', '20', virtual4);
  });

  test('are refused by a service without backends, and dropped if it says so', async () => {
    await program(
      service({ dispatch: backends() }),
      service({ dispatch: backends(), port: port(81), withoutBackends: 'drop' }),
    );
    const [refused, dropped] = await lab.ask(
      lab.client,
      { address: virtual4, port: 80 },
      { address: virtual4, port: 81, timeoutMs: 300 },
    );
    expect(refused?.error).toBe('ECONNREFUSED');
    expect(dropped?.error).toBe('timeout');
  });

  test('are accepted by source range only', async () => {
    await program(
      service({ sourceRanges: [prefix('10.77.0.100/32')] }),
      service({ port: port(81), sourceRanges: [prefix('10.77.0.0/26')] }),
      service({ address: virtual6, dispatch: backends6(1), sourceRanges: [prefix('fd77::/64')] }),
    );
    const [inside, outside, six] = await lab.ask(
      lab.client,
      { address: virtual4, port: 80 },
      { address: virtual4, port: 81, timeoutMs: 300 },
      { address: virtual6, port: 80 },
    );
    expect(inside?.text).toMatch(/^backend/);
    expect(outside?.error).toBe('timeout');
    expect(six?.text).toMatch(/^backend1/);
  });

  test('stay with one backend when the client is hashed', async () => {
    await program(service({ affinity: { kind: 'client-hash' } }));
    const answers = await lab.ask(
      lab.client,
      ...manyPorts(43_000, 20).map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    expect(new Set(answers.map((answer) => whoAnswered(answer).backend)).size).toBe(1);
  });

  test('stay with the stored backend until the timeout', async () => {
    const remembering = (seconds: number) =>
      program(service({ affinity: { kind: 'client-timeout', seconds } }));
    await remembering(60);
    const ask = async (from: number) => {
      const [answer] = await lab.ask(lab.client, { address: virtual4, port: 80, localPort: from });
      return answer === undefined ? '' : whoAnswered(answer).backend;
    };
    const first = await ask(44_000);
    const burst = await lab.ask(
      lab.client,
      ...manyPorts(44_001, 10).map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    expect(new Set(burst.map((answer) => whoAnswered(answer).backend))).toEqual(new Set([first]));
    await remembering(1);
    // Each attempt happens after the entry has expired; one of many must reach another backend.
    const seen = new Set([first]);
    for (let attempt = 0; attempt < 20 && seen.size < 2; attempt += 1) {
      await expired(gateway);
      seen.add(await ask(44_100 + attempt));
    }
    expect(seen.size).toBe(2);
  });

  test('reach a node on the node port', async () => {
    const nodePort = service({ dispatch: { kind: 'node-ports', nodePort: port(30_080) } });
    const nodes = [address('10.78.0.21'), address('10.78.0.22')];
    await lab.program(gateway, { services: [nodePort], nodes });
    const answers = await lab.ask(
      lab.client,
      ...manyPorts(45_000, 20).map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    const seen = new Set(answers.map((answer) => whoAnswered(answer).backend));
    expect(seen).toEqual(new Set(['backend1', 'backend2']));
  });

  test('from inside the node network and from the backend itself come back', async () => {
    await program(
      service({ dispatch: backends(1) }),
      service({ port: port(81), dispatch: backends(2) }),
    );
    const answers = await lab.ask(
      backend,
      { address: virtual4, port: 80 },
      { address: virtual4, port: 81 },
    );
    expect(answers.map((answer) => whoAnswered(answer))).toEqual([
      { backend: 'backend1', client: '10.78.0.11' },
      { backend: 'backend2', client: '10.78.0.11' },
    ]);
  });

  test('from the gateway itself reach the service', async () => {
    await program(service({ dispatch: backends(2) }));
    const [answer] = await lab.ask(gateway, { address: virtual4, port: 80 });
    expect(answer?.text).toMatch(/^backend2/);
  });

  test('keep the mark that a foreign firewall gave them', async () => {
    await program(service());
    const foreign = `table ip foreign {
      chain marking { type filter hook prerouting priority -150; ip daddr ${virtual4} meta mark set 0x5; }
      chain seeing { type filter hook postrouting priority 90; ip saddr 10.77.0.100 meta mark != 0x5 counter; }
    }`;
    await gateway.loadRules(foreign);
    await gateway.ip('rule', 'add', 'fwmark', '0x1', 'blackhole');
    const answers = await lab.ask(
      lab.client,
      ...manyPorts(46_000, 20).map((localPort) => ({ address: virtual4, port: 80, localPort })),
    );
    const listing = await gateway.run('nft', 'list', 'chain', 'ip', 'foreign', 'seeing');
    await gateway.ip('rule', 'del', 'fwmark', '0x1', 'blackhole');
    await gateway.run('nft', 'delete', 'table', 'ip', 'foreign');
    expect(answers.every((answer) => answer.error === undefined)).toBe(true);
    expect(listing).toContain('counter packets 0');
  });

  test('obey the ingress policies of their destination pod', async () => {
    const policy = (name: string, cidr: string, first: number) => ({
      namespace: 'n',
      name,
      allow: [
        {
          from: [{ cidr: prefix('10.0.0.0/8'), except: [prefix(cidr)] }],
          ports: [{ protocol: 'TCP' as const, first: port(first), last: port(first + 10) }],
        },
      ],
    });
    const expectAnswer = async (from: 'backend1' | 'timeout', ...policies: string[]) => {
      await lab.program(gateway, {
        services: [service({ dispatch: backends(1) })],
        policies: [
          policy('open', '10.99.0.0/16', 8075),
          policy('except', '10.77.0.100/32', 8075),
          policy('port', '10.99.0.0/16', 9000),
        ],
        pods: [{ address: address('10.78.0.21'), policies }],
      });
      const patience = from === 'timeout' ? { timeoutMs: 1_500 } : {};
      const [answer] = await lab.ask(lab.client, { address: virtual4, port: 80, ...patience });
      expect(answer === undefined ? '' : whoAnswered(answer).backend).toBe(from);
    };
    await expectAnswer('backend1', 'n/open');
    await expectAnswer('timeout', 'n/except');
    await expectAnswer('timeout', 'n/port');
    await expectAnswer('backend1', 'n/port', 'n/open');
  });
});

/** Waits until the elements of all dynamic sets have expired. */
async function expired(gateway: Host): Promise<void> {
  await waitFor('the entries to expire', async () => {
    const listing = await gateway.run('nft', 'list', 'sets', 'inet');
    const dynamic = listing.split('set ').filter((part) => part.startsWith('clients-'));
    return dynamic.length > 0 && dynamic.every((part) => !part.includes('expires'));
  });
}
