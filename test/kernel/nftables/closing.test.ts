import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canUseNamespaces, type Host } from '../../services/namespaces.ts';
import {
  backends,
  backends6,
  Lab,
  service,
  virtual4,
  virtual6,
  type Answer,
  type Request,
} from './lab.ts';

const blockTcp = `table inet block { chain prerouting {
  type filter hook prerouting priority -400; policy accept;
  meta l4proto tcp drop
}
}`;

/** A FIN is the first packet that the second gateway receives of these connections. */
describe.skipIf(!canUseNamespaces())('connections that close after a failover', () => {
  let lab: Lab;
  let first: Host;
  let second: Host;
  let backend: Host;
  let server: ChildProcess;

  beforeAll(async () => {
    lab = await Lab.create();
    first = await lab.gateway(1);
    second = await lab.gateway(2);
    backend = await lab.backend(1);
    server = await lab.serve(backend, 'backend1', 8080);
    const services = [
      service({ dispatch: backends(1) }),
      service({ address: virtual6, dispatch: backends6(1) }),
    ];
    for (const gateway of [first, second]) await lab.program(gateway, { services });
    await lab.take(first);
  });
  afterAll(() => lab.remove());

  const requests = (verb: 'close' | 'closed'): Request[] =>
    [virtual4, virtual6].flatMap((address) =>
      [0, 100].map((bytes) => ({ address, port: 80, say: `${verb} ${bytes}`, timeoutMs: 10_000 })),
    );

  /** Moves the addresses to the second gateway, which no packet passes before a FIN was sent twice. */
  async function closeAfterMove(sender: Host, close: () => void, count: number): Promise<void> {
    await lab.yield(first);
    await second.loadRules(blockTcp);
    await lab.take(second);
    for (const host of [lab.client, backend]) await host.ip('neigh', 'flush', 'all');
    close();
    // The second transmission has the data and the FIN in one segment.
    const repeated = async () => {
      const closing = await sender.run('ss', '-Htino', 'state', 'fin-wait-1');
      return closing.match(/ backoff:/g)?.length ?? 0;
    };
    await expect.poll(repeated).toBe(count);
    await second.run('nft', 'delete', 'table', 'inet', 'block');
  }

  async function backToFirst(): Promise<void> {
    await lab.yield(second);
    await lab.take(first);
    await second.run('conntrack', '-F');
    for (const host of [lab.client, backend]) await host.ip('neigh', 'flush', 'all');
  }

  const outcome = ({ error, text }: Answer) => error ?? text;

  test('end if the client closes them', async () => {
    const all = requests('close');
    const running = await lab.begin(lab.client, ...all);
    await closeAfterMove(lab.client, running.close, all.length);
    const answers = await running.answers;
    await backToFirst();
    expect(answers.map(outcome)).toEqual(['0', '100', '0', '100']);
  });

  test('end if the server closes them', async () => {
    const all = requests('closed');
    const running = await lab.begin(lab.client, ...all);
    await closeAfterMove(backend, () => server.kill('SIGUSR2'), all.length);
    const answers = await running.answers;
    await backToFirst();
    expect(answers.map(({ error, bytes }) => error ?? bytes)).toEqual([0, 100, 0, 100]);
  });
});
