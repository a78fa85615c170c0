import { describe, expect, it } from 'vitest';
import { answer, failure, FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { KubeClient } from '../client/client.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { installCustomResources, resourceOf } from './custom-resources.ts';
import type { Condition } from './object.ts';

const definition: CustomResourceDefinition = {
  metadata: { name: 'widgets.causeway.dev' },
  spec: {
    group: 'causeway.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true },
      { name: 'v1beta1', served: true, storage: false },
    ],
  },
};

interface World {
  /** The server's definitions before the installation. */
  readonly present?: CustomResourceDefinition;
  readonly mayWrite?: boolean;
}

function setUp(
  conditionsAt: (getNumber: number) => readonly Condition[],
  { present, mayWrite = true }: World = {},
) {
  const api = new FakeKubeApi();
  const clock = new SimulatedClock();
  const client = new KubeClient({ transport: api, clock });
  let gets = 0;
  let stored = present;
  api.fault = ({ method }) => {
    if (method === 'PATCH') {
      if (!mayWrite) return failure(403, 'Forbidden');
      stored = definition;
      return answer(200, definition);
    }
    if (stored === undefined) return failure(404, 'NotFound');
    gets += 1;
    return answer(200, { ...stored, status: { conditions: conditionsAt(gets) } });
  };
  const { signal } = new AbortController();
  const installing = installCustomResources(client, [definition], {
    clock,
    signal,
    fieldManager: 'causeway',
  }).then(
    () => 'installed',
    (error: unknown) => error,
  );
  return { api, clock, installing };
}

describe('installCustomResources', () => {
  it('applies and waits until the server serves it', async () => {
    const { api, clock, installing } = setUp((number) =>
      number < 4 ? [] : [{ type: 'Established', status: 'True' }],
    );
    await clock.advance(1_000);
    expect(await installing).toBe('installed');
    expect(api.requests.map(({ method }) => method)).toEqual([
      ...['GET', 'PATCH', 'GET', 'GET', 'GET', 'GET'],
    ]);
  });

  const established: readonly Condition[] = [{ type: 'Established', status: 'True' }];
  /** As the server stores it: with its own defaults. */
  const withDefaults: CustomResourceDefinition = {
    ...definition,
    spec: {
      ...definition.spec,
      names: { ...definition.spec.names, singular: 'widget', listKind: 'WidgetList' },
      conversion: { strategy: 'None' },
    },
  };

  it('writes nothing if everything exists, so that it needs no permission', async () => {
    const world = { present: withDefaults, mayWrite: false };
    const { api, clock, installing } = setUp(() => established, world);
    await clock.advance(1_000);
    expect(await installing).toBe('installed');
    expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  const [first] = definition.spec.versions;
  it.each<[string, CustomResourceDefinition | undefined]>([
    ['missing', undefined],
    ['old', { ...withDefaults, spec: { ...withDefaults.spec, versions: first ? [first] : [] } }],
  ])('gives a hint when one is %s and may not be written', async (_, present) => {
    const world = { mayWrite: false, ...(present === undefined ? {} : { present }) };
    const { clock, installing } = setUp(() => established, world);
    await clock.advance(1_000);
    expect(await installing).toMatchObject({
      code: 'forbidden',
      hint: expect.stringContaining('kubectl apply --server-side -k deploy/kustomize/crds'),
    });
  });

  it('reports names that are taken', async () => {
    const { clock, installing } = setUp(() => [
      { type: 'NamesAccepted', status: 'False', message: '"widgets" is already in use' },
    ]);
    await clock.advance(1_000);
    expect(await installing).toMatchObject({
      code: 'conflict',
      message: 'the names of widgets.causeway.dev are taken: "widgets" is already in use',
    });
  });

  it('fails after a while', async () => {
    const { clock, installing } = setUp(() => []);
    await clock.advance(61_000);
    expect(await installing).toMatchObject({ code: 'timeout' });
  });
});

describe('resourceOf', () => {
  it('is the storage version unless another is given', () => {
    expect(resourceOf(definition)).toEqual({
      group: 'causeway.dev',
      version: 'v1',
      plural: 'widgets',
      kind: 'Widget',
      namespaced: true,
    });
    expect(resourceOf(definition, 'v1beta1').version).toBe('v1beta1');
    expect(() => resourceOf(definition, 'v9')).toThrow('widgets.causeway.dev has no version v9');
  });
});
