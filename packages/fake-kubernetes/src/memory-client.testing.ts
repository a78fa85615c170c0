import { KubeClient } from '@causeway/kubernetes/client/client';
import { systemClock } from '@causeway/base/time/clock';
import { InProcessKubernetes } from './in-process.ts';

/** A client of an in-memory cluster, for tests of code that reads and writes objects. */
export function memoryKubeClient(): KubeClient {
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
