import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  startEmbeddedServer,
  startRealServer,
  type ServerUnderTest,
} from '../kubernetes-api/server-under-test.ts';
import { transcribe } from '../kubernetes-api/transcript.ts';
import { comparable } from './comparable.ts';
import { customResourceScenarios } from './scenarios/custom-resources.ts';
import { definitions, ruled, shapes } from './scenarios/definitions.ts';

const definitionPath = `${definitions}/shapes.shapes.example.com`;

async function define(server: ServerUnderTest): Promise<void> {
  for (const body of [shapes, ruled]) {
    const { status, body: answer } = await server.call('POST', definitions, { body });
    expect(status, JSON.stringify(answer)).toBe(201);
  }
  // A real server serves the resource a moment after it has reported it as established.
  await waitFor('the definition to be served', async () => {
    const answers = await Promise.all([
      server.call('GET', definitionPath),
      server.call('GET', '/apis/shapes.example.com/v1/shapes'),
      server.call('GET', '/apis/shapes.example.com/v1/rules'),
      server.call('GET', '/apis/shapes.example.com/v1'),
    ]);
    const isEstablished = JSON.stringify(answers[0]?.body).includes('InitialNamesAccepted');
    return isEstablished && answers.every(({ status }) => status === 200);
  });
}

describe.runIf(await isAvailable(prepareKubernetes))(
  'custom resources are validated, defaulted and pruned like on a real server',
  () => {
    let embedded: ServerUnderTest;
    let real: ServerUnderTest;

    beforeAll(async () => {
      [embedded, real] = await Promise.all([startEmbeddedServer(), startRealServer()]);
      await Promise.all([define(embedded), define(real)]);
    });

    afterAll(async () => {
      await Promise.all([embedded.stop(), real.stop()]);
    });

    test('the definition itself', async () => {
      const [expected, actual] = await Promise.all(
        [real, embedded].map((server) => transcribe(server, [['GET', definitionPath]])),
      );
      expect(withoutOwners(actual)).toEqual(withoutOwners(expected));
    });

    test.each(customResourceScenarios)('$name', async ({ name, steps }) => {
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

    test('deleting the definition deletes its objects', async () => {
      for (const server of [embedded, real]) {
        await server.call('DELETE', definitionPath);
        await waitFor('the definition to be gone', async () => {
          const { status } = await server.call('GET', definitionPath);
          return status === 404;
        });
        await waitFor('the resource to be gone', async () => {
          const { status } = await server.call('GET', '/apis/shapes.example.com/v1/shapes');
          return status === 404;
        });
      }
    });
  },
);

/** A real server's own controllers write the status a moment later, and own it. */
function withoutOwners(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (key === 'managedFields' ? undefined : value)),
  );
}
