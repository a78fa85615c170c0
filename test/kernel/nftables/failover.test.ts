import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { findStrictForwardChains } from '../../../packages/nftables/src/drivers/foreign-firewall.ts';
import type { VirtualService } from '../../../packages/nftables/src/compile/virtual-service.ts';
import { canUseNamespaces, type Host } from '../../services/namespaces.ts';
import { backends, Lab, service, virtual4, whoAnswered, type Request } from './lab.ts';

const chunks = 150;
const chunkBytes = 16_384;
const whole = chunks * chunkBytes;

/** Two gateways that share only the ruleset: no state is passed between them. */
describe.skipIf(!canUseNamespaces())('two gateways', () => {
  let lab: Lab;
  let first: Host;
  let second: Host;

  beforeAll(async () => {
    lab = await Lab.create();
    first = await lab.gateway(1);
    second = await lab.gateway(2);
    await lab.backend(1, 8080);
    await lab.backend(2, 8080);
    await lab.backend(3, 8080);
    await lab.take(first);
    // A client that can reach the backends directly could also reset them directly.
    await lab.client.ip('route', 'add', '10.78.0.0/24', 'via', '10.77.0.11');
  });
  afterAll(() => lab.remove());

  const programBoth = (...services: VirtualService[]) =>
    Promise.all([first, second].map((gateway) => lab.program(gateway, { services })));

  const transfers = (from: number, count: number, say: string): Request[] =>
    Array.from({ length: count }, (_, index) => ({
      address: virtual4,
      port: 80,
      localPort: from + index,
      say,
    }));

  const move = async (from: Host, to: Host) => {
    await lab.yield(from);
    await lab.take(to);
  };

  test('hand over running downloads and uploads, and back, without a lost byte', async () => {
    await programBoth(service({ dispatch: backends(1, 2, 3) }));
    const downloads = await lab.begin(lab.client, ...transfers(50_000, 10, `download ${chunks}`));
    const uploads = await lab.begin(lab.client, ...transfers(51_000, 10, `upload ${chunks}`));
    await move(first, second);
    await move(second, first);
    const down = await downloads.answers;
    const up = await uploads.answers;
    expect(down.map(({ bytes, error }) => error ?? bytes)).toEqual(down.map(() => whole));
    expect(up.map(({ text, error }) => error ?? text)).toEqual(up.map(() => String(whole)));
  });

  test('serve a client again from the port of a connection that was handed over and reset', async () => {
    await programBoth(service({ dispatch: backends(1, 2, 3) }));
    const ports = transfers(57_000, 10, 'download 10000');
    const downloads = await lab.begin(lab.client, ...ports);
    await move(first, second);
    const connections = async (state: string) => {
      const all = await second.run('conntrack', '-L', '-p', 'tcp', '--state', state);
      return [...new Set(all.match(/port=5700\d/g))];
    };
    // Between two packets of the servers, so that theirs are the first to be seen.
    await second.run('conntrack', '-F');
    await expect.poll(() => connections('ESTABLISHED')).toHaveLength(ports.length);
    downloads.kill();
    await downloads.answers;
    await expect.poll(() => connections('ESTABLISHED')).toEqual([]);
    // Less than the ten seconds for which the kernel would keep the reset, and refuse.
    const again = ports.map((each) => ({ ...each, say: 'who', timeoutMs: 5_000 }));
    const answers = await lab.ask(lab.client, ...again);
    await move(second, first);
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test('drop packets of unknown connections without an answer, so that the connection survives elsewhere', async () => {
    await programBoth(service({ dispatch: backends(1, 2, 3) }));
    await second.setting('net.netfilter.nf_conntrack_tcp_loose', 0);
    const downloads = await lab.begin(lab.client, ...transfers(55_000, 5, `download ${chunks}`));
    const uploads = await lab.begin(lab.client, ...transfers(55_100, 5, `upload ${chunks}`));
    await move(first, second);
    await move(second, first);
    const down = await downloads.answers;
    const up = await uploads.answers;
    await second.setting('net.netfilter.nf_conntrack_tcp_loose', 1);
    expect(down.map(({ bytes, error }) => error ?? bytes)).toEqual(down.map(() => whole));
    expect(up.map(({ text, error }) => error ?? text)).toEqual(up.map(() => String(whole)));
  });

  test('accept a backend behind two ports, and serve both', async () => {
    await programBoth(
      service({ dispatch: backends(1, 2) }),
      service({ dispatch: backends(1, 2), port: port(81) }),
    );
    const answers = await lab.ask(
      lab.client,
      { address: virtual4, port: 80 },
      { address: virtual4, port: 81 },
    );
    expect(answers.every(({ text }) => text.startsWith('backend'))).toBe(true);
  });

  test("leave a backend's own connections alone, even from its service port", async () => {
    await programBoth(service({ dispatch: backends(1) }));
    await lab.serve(lab.client, 'outside', 9000);
    const helper = await lab.network.host('pod');
    await lab.network.join(helper, 'int', '10.78.0.31/24');
    await helper.ip('route', 'add', 'default', 'via', '10.78.0.1');
    await programBoth(
      service({
        dispatch: {
          kind: 'slots',
          backends: [{ address: address('10.78.0.31'), port: port(8080) }],
        },
      }),
    );
    const [answer] = await lab.ask(helper, { address: '10.77.0.100', port: 9000, localPort: 8080 });
    expect(answer === undefined ? '' : whoAnswered(answer).client).toBe('10.78.0.31');
  });

  test('do not hand over masqueraded connections, as the topologies page says', async () => {
    await programBoth(service({ dispatch: backends(1), masquerade: 'always' }));
    // Four seconds: long enough to be moved in the meantime.
    const long = 400;
    const requests = transfers(52_000, 3, `download ${long}`);
    const { answers } = await lab.begin(
      lab.client,
      ...requests.map((request) => ({ ...request, timeoutMs: 4_000 })),
    );
    await move(first, second);
    const cut = await answers;
    expect(cut.every(({ bytes }) => bytes < long * chunkBytes)).toBe(true);
    await move(second, first);
  });

  test('accept no new connection if the address has moved and the return route has not', async () => {
    await programBoth(service({ dispatch: backends(1, 2, 3) }));
    const ask = async (from: number, patience: Pick<Request, 'timeoutMs'> = {}) => {
      const requests = transfers(from, 6, 'who').map((each) => ({ ...each, ...patience }));
      return (await lab.ask(lab.client, ...requests)).filter(({ error }) => error === undefined);
    };
    expect(await ask(56_000)).toHaveLength(6);
    await first.ip('address', 'del', '10.77.0.50/32', 'dev', 'ext');
    await second.ip('address', 'add', '10.77.0.50/32', 'dev', 'ext');
    await second.run('arping', '-q', '-U', '-c', '1', '-I', 'ext', virtual4);
    expect(await ask(56_100, { timeoutMs: 2_000 })).toHaveLength(0);
    await first.ip('address', 'del', '10.78.0.1/32', 'dev', 'int');
    await lab.take(second);
    expect(await ask(56_200)).toHaveLength(6);
    await second.ip('address', 'del', '10.77.0.50/32', 'dev', 'ext');
    await second.ip('address', 'del', '10.78.0.1/32', 'dev', 'int');
    await lab.take(first);
  });

  test('work beside a foreign firewall, and one that would stop a handover is found', async () => {
    await programBoth(service({ dispatch: backends(1) }));
    const strict = `table inet firewall { chain forward {
      type filter hook forward priority 0; policy drop;
      ct state established,related accept
      ct status dnat accept
    }
    }`;
    for (const gateway of [first, second]) await gateway.loadRules(strict);
    const chains = await findStrictForwardChains('causeway', { networkNamespace: second.path });
    expect(chains).toEqual([{ chain: 'inet firewall forward', why: 'its policy is drop' }]);
    const [answer] = await lab.ask(lab.client, ...transfers(54_000, 1, 'who'));
    expect(answer?.text).toMatch(/^backend1/);
    for (const gateway of [first, second]) {
      await gateway.run('nft', 'delete', 'table', 'inet', 'firewall');
    }
    expect(await findStrictForwardChains('causeway', { networkNamespace: second.path })).toEqual(
      [],
    );
  });

  test('send the same client to the same backend', async () => {
    await programBoth(service({ dispatch: backends(1, 2, 3) }));
    const ask = async () => {
      const requests = transfers(53_000, 30, 'who');
      const answers = await lab.ask(lab.client, ...requests);
      return answers.map((answer) => whoAnswered(answer).backend);
    };
    const before = await ask();
    await first.run('conntrack', '-F');
    await move(first, second);
    await second.run('conntrack', '-F');
    const after = await ask();
    expect(after).toEqual(before);
    expect(new Set(before).size).toBe(3);
  });
});
