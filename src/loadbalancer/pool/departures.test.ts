import { expect, test } from 'vitest';
import { KubeClient } from '../../kube/client.ts';
import { configMaps } from '../../kube/resources.ts';
import { systemClock } from '../../runtime/clock.ts';
import { InProcessKubernetes } from '../../sandbox/kubernetes/in-process.ts';
import { Departures } from './departures.ts';

const { signal } = new AbortController();

function inMemory(): KubeClient {
  const kubernetes = new InProcessKubernetes();
  return new KubeClient({
    clock: systemClock,
    transport: {
      send: async (request) => {
        const answer = await kubernetes.answer(request);
        const body = (async function* () {
          yield Buffer.from(answer.body);
        })();
        return { ...answer, body };
      },
      close: () => Promise.resolve(),
    },
  });
}

test('who went is kept until it is removed, and what nobody can read stays', async () => {
  const client = inMemory();
  const departures = new Departures(client, 'kube-system');
  expect(await departures.list(signal)).toEqual([]);
  const first = { uid: 'a', fence: 7, withdrawn: true };
  await departures.add(first, signal);
  await departures.add({ uid: 'b', withdrawn: false }, signal);
  await departures.add(first, signal);
  const name = { namespace: 'kube-system', name: 'causeway-pool-departed' };
  await client.patchMerge(configMaps, name, { data: { spoiled: '{' } });
  expect(await departures.list(signal)).toEqual([first, { uid: 'b', withdrawn: false }]);
  await departures.remove(first, signal);
  await departures.remove(first, signal);
  expect(await departures.list(signal)).toEqual([{ uid: 'b', withdrawn: false }]);
  expect((await client.get(configMaps, name)).data).toHaveProperty('spoiled');
});
