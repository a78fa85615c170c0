import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import {
  startEmbeddedServer,
  startRealServer,
  type ServerUnderTest,
} from '../kubernetes-api/server-under-test.ts';
import { transcribe } from '../kubernetes-api/transcript.ts';
import { comparable } from './comparable.ts';
import { bareScenarios } from './scenarios/bare.ts';
import { definitionScenarios } from './scenarios/definitions.ts';
import { endpointScenarios } from './scenarios/endpoints.ts';
import { plainScenarios } from './scenarios/plain.ts';
import { podScenarios } from './scenarios/pods.ts';
import { serviceScenarios } from './scenarios/services.ts';
import { tableScenarios } from './scenarios/tables.ts';
import { workloadScenarios } from './scenarios/workloads.ts';

const scenarios = [
  ...bareScenarios,
  ...plainScenarios,
  ...podScenarios,
  ...workloadScenarios,
  ...endpointScenarios,
  ...serviceScenarios,
  ...tableScenarios,
  ...definitionScenarios,
];

describe.runIf(await isAvailable(prepareKubernetes))(
  'kinds are defaulted, validated and allocated like on a real server',
  () => {
    let embedded: ServerUnderTest;
    let real: ServerUnderTest;

    beforeAll(async () => {
      [embedded, real] = await Promise.all([startEmbeddedServer(), startRealServer()]);
    });

    afterAll(async () => {
      await Promise.all([embedded.stop(), real.stop()]);
    });

    test.each(scenarios)('$name', async ({ name, steps }) => {
      const namespace = name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await Promise.all(
        [embedded, real].map((server) => server.call('POST', '/api/v1/namespaces', { body })),
      );
      const expected = await transcribe(real, steps(namespace));
      const actual = await transcribe(embedded, steps(namespace));
      for (const [index, answer] of expected.entries()) {
        expect.soft(comparable(actual[index])).toEqual(comparable(answer));
      }
    });
  },
);
