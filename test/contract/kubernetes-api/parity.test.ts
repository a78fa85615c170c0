import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { applyScenarios } from './scenarios/apply.ts';
import { customResourceScenarios, gadgetDefinition } from './scenarios/custom-resources.ts';
import { lifecycleScenarios } from './scenarios/lifecycle.ts';
import { listScenarios } from './scenarios/lists.ts';
import { objectScenarios } from './scenarios/objects.ts';
import { patchScenarios } from './scenarios/patches.ts';
import { serviceScenarios } from './scenarios/services.ts';
import { workloadScenarios } from './scenarios/workloads.ts';
import { type ServerUnderTest, startEmbeddedServer, startRealServer } from './server-under-test.ts';
import { announced } from './announced.ts';
import { define } from './define.ts';
import { transcribe } from './transcript.ts';

const scenarios = [
  ...serviceScenarios,
  ...workloadScenarios,
  ...objectScenarios,
  ...applyScenarios,
  ...listScenarios,
  ...lifecycleScenarios,
  ...patchScenarios,
  ...customResourceScenarios,
];

describe.runIf(await isAvailable(prepareKubernetes))(
  'the embedded API answers like a real one',
  () => {
    let embedded: ServerUnderTest;
    let real: ServerUnderTest;

    beforeAll(async () => {
      [embedded, real] = await Promise.all([startEmbeddedServer(), startRealServer()]);
      await Promise.all([embedded, real].map((server) => define(server, gadgetDefinition)));
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
      for (const [index, answer] of expected.entries()) expect.soft(actual[index]).toEqual(answer);
    });

    test('discovery equals that of a real server, in both forms', async () => {
      const expected = await announced(real);
      const actual = await announced(embedded);
      expect(actual.groups).toEqual(expected.groups.filter((name) => actual.groups.includes(name)));
      for (const [name, resource] of actual.resources) {
        expect.soft(resource, name).toEqual(expected.resources.get(name));
      }
    });
  },
);
