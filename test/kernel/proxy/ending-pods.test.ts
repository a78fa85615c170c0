import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makeService,
  makeSlice,
} from '../../../packages/causeway/src/node-proxy/testing/objects.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { endpoint, heard, layout, ProxyLab } from './proxy-lab.ts';

const cluster = { address: '10.96.0.1', port: 80 };
const web = makeService({ spec: { ports: [{ port: 80 }] } });
/** A pod that has closed its port. */
const closed = makeSlice({ endpoints: [endpoint('p1')], ports: [{ port: 9_999 }] });
/** A pod with an unreachable address. */
const gone = makeSlice({ endpoints: [{ addresses: ['10.1.2.77'], nodeName: 'node2' }] });
const other = makeSlice({ endpoints: [endpoint('p2')] });

describe.skipIf(!canUseNamespaces())('pods that end before it is known', () => {
  let lab: ProxyLab;
  beforeAll(async () => {
    lab = await ProxyLab.create();
    // Packets to the deleted pod are lost on the other node.
    await lab.host('remote').ip('route', 'add', 'blackhole', '10.1.2.77');
    await lab.startProxy();
    await lab.change((proxy) => proxy.synced());
  });
  afterAll(() => lab.remove());

  const ask = async (from: 'client' | 'node') => (await lab.ask(from, cluster)).map(heard);
  const list = (set: string) =>
    lab.host('node').run('nft', 'list', 'set', 'inet', layout.table, set);

  test.each(['client', 'node'] as const)(
    'a client (%s) that one of them refuses is served by another on its next attempt',
    async (from) => {
      // The client tries again after a second; on a busy machine the rules may come later.
      const answer = await waitFor('rules that are there in time', async () => {
        await lab.serve(web, closed);
        const before = await list('refusals4');
        const asked = ask(from);
        await waitFor('a refusal', async () => portsIn(await list('refusals4'), before).length > 0);
        await lab.serve(web, other);
        const [text = ''] = await asked;
        return text === 'ECONNREFUSED' ? undefined : text;
      });
      expect(answer).toMatch(/^p2 /);
    },
  );

  test('a permanent refusal reaches the client', async () => {
    await lab.serve(web, closed);
    expect(await ask('client')).toEqual(['ECONNREFUSED']);
    expect(await ask('node')).toEqual(['ECONNREFUSED']);
  });

  test('an unanswered attempt is sent to another pod', async () => {
    await lab.serve(web, gone);
    const before = await list('counts4');
    const asked = ask('client');
    await waitFor('the try to be counted', async () => (await list('counts4')) !== before);
    await lab.serve(web, other);
    expect((await asked)[0]).toMatch(/^p2 /);
  });
});

/** The client ports that are new in a listing of refusals. */
function portsIn(listing: string, before: string): string[] {
  const ports = (text: string) => text.match(/\. \d+ \. [\d.]+ \. 9999/g) ?? [];
  return ports(listing).filter((each) => !before.includes(each));
}
