import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { transcribeFollowing } from './kubectl-following.ts';
import { kubectlScenarios } from './kubectl-scenarios.ts';
import { transcribeKubectl } from './kubectl-transcript.ts';
import { type ServerUnderTest, startEmbeddedServer, startRealServer } from './server-under-test.ts';

describe.runIf(await isAvailable(prepareKubernetes))(
  'kubectl prints the same on both servers',
  () => {
    let embedded: ServerUnderTest;
    let real: ServerUnderTest;

    beforeAll(async () => {
      [embedded, real] = await Promise.all([startEmbeddedServer(), startRealServer()]);
    });

    afterAll(async () => {
      await Promise.all([embedded.stop(), real.stop()]);
    });

    test.each(kubectlScenarios)('$name', async (scenario) => {
      const expected = await transcribeKubectl(real, scenario);
      const actual = await transcribeKubectl(embedded, scenario);
      for (const [index, answer] of expected.entries()) expect.soft(actual[index]).toEqual(answer);
    });

    test('get -w, wait and delete follow changes', async () => {
      const expected = await transcribeFollowing(real);
      expect(await transcribeFollowing(embedded)).toEqual(expected);
      expect(expected).toMatchObject({ gone: { code: 0 }, waited: [{ code: 0 }, { code: 0 }] });
    });
  },
);
