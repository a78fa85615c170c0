import { apply, patch, type Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const merge = (body: object) => ({ body, contentType: patch('merge') });

const shape = (name: string, spec: object, fields: object = {}) => ({
  apiVersion: 'shapes.example.com/v1',
  kind: 'Shape',
  metadata: { name },
  spec,
  ...fields,
});

/** Defects, one at a time and some together. */
const refused: readonly object[] = [
  {},
  { size: 0 },
  { size: 10 },
  { size: 'big' },
  { size: 1.5 },
  { size: 1, colour: 'green' },
  { size: 1, name: 'UPPER' },
  { size: 1, name: 'a' },
  { size: 1, name: 'abcdef' },
  { size: 1, address: '2001:db8::1' },
  { size: 1, network: '10.0.0.1' },
  { size: 1, when: 'tomorrow' },
  { size: 1, port: true },
  { size: 1, tags: ['a', 'a'] },
  { size: 1, tags: ['a', 'b', 'c', 'd'] },
  { size: 1, tags: 'a' },
  { size: 1, parts: [{ name: 'a' }, { name: 'a' }] },
  { size: 1, parts: [{}] },
  { size: 1, labels: { a: 1 } },
  { size: 1, labels: { a: '', b: '', c: '' } },
  { size: 1, either: { a: '', b: '' } },
  { size: 1, either: {} },
  { size: 1, ratio: 0 },
  { size: 1, ratio: 0.7 },
  { size: 'big', colour: 1, name: null },
];

export const customResourceScenarios: readonly Scenario[] = [
  {
    name: 'custom resources that are refused',
    steps: (namespace) =>
      refused.map(
        (spec) =>
          [
            'POST',
            `/apis/shapes.example.com/v1/namespaces/${namespace}/shapes`,
            { body: shape('x', spec) },
          ] as const,
      ),
  },
  {
    name: 'the life of a custom resource',
    steps: (namespace) => {
      const path = `/apis/shapes.example.com/v1/namespaces/${namespace}/shapes`;
      const beta = `/apis/shapes.example.com/v1beta1/namespaces/${namespace}/shapes`;
      return [
        [
          'POST',
          path,
          {
            body: shape(
              'a',
              { size: 1, unknown: true, free: { any: 1 }, parts: [{ name: 'p' }] },
              { status: { phase: 'x' } },
            ),
          },
        ],
        [
          'POST',
          `${path}?fieldValidation=Strict`,
          { body: shape('b', { size: 1, unknown: true }) },
        ],
        [
          'POST',
          path,
          {
            body: shape('full', {
              size: 2,
              colour: 'blue',
              address: '192.0.2.1',
              network: '10.0.0.0/8',
              when: '2026-01-01T00:00:00Z',
              port: '80%',
              maybe: null,
              name: 'abc',
              tags: ['a'],
              labels: { x: 'y' },
              either: { a: '' },
              ratio: 1.5,
            }),
          },
        ],
        [
          'POST',
          path,
          { body: shape('nulls', { size: 1, colour: null, tags: null, parts: null }) },
        ],
        ['GET', `${path}/a`],
        ['GET', `${path}?fieldSelector=spec.colour=blue`],
        ['GET', `${path}?fieldSelector=spec.size=1`],
        ['PUT', `${path}/a`, { body: shape('a', { size: 2 }) }],
        ['PATCH', `${path}/a`, merge({ spec: { size: 3 } })],
        ['PATCH', `${path}/a`, merge({ status: { phase: 'ignored' } })],
        [
          'PATCH',
          `${path}/a/status`,
          merge({ status: { phase: 'ready', replicas: 3, odd: 1 }, spec: { size: 9 } }),
        ],
        ['PATCH', `${path}/a/status`, merge({ status: { phase: 1 } })],
        ['PATCH', `${path}/a`, merge({ spec: { size: 100 } })],
        ['GET', `${path}/a/scale`],
        ['PATCH', `${path}/a/scale`, merge({ spec: { replicas: 5 } })],
        ['GET', path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }],
        ['GET', `${beta}/a`],
        ['GET', beta],
        [
          'PATCH',
          `${path}/applied?fieldManager=me`,
          { body: shape('applied', { size: 4 }), contentType: apply },
        ],
        [
          'PATCH',
          `${path}/applied?fieldManager=you`,
          { body: shape('applied', { size: 5 }), contentType: apply },
        ],
        ['DELETE', `${path}/a`],
      ];
    },
  },
  {
    name: 'custom resources and their rules',
    steps: (namespace) => {
      const path = `/apis/shapes.example.com/v1/namespaces/${namespace}/rules`;
      const one = (name: string, spec: object) => ({
        apiVersion: 'shapes.example.com/v1',
        kind: 'Ruled',
        metadata: { name },
        spec,
      });
      return [
        ['POST', path, { body: one('r', { max: 10, parts: [{ name: 'a', count: 2 }] }) }],
        ['POST', path, { body: one('x', { max: 10 }) }],
        ['POST', path, { body: one('r2', { min: 20, max: 10 }) }],
        ['POST', path, { body: one('r2', { max: 200, mode: 'x' }) }],
        ['POST', path, { body: one('r2', { max: 60 }) }],
        ['POST', path, { body: one('r2', { max: 10, tags: ['', 'a'] }) }],
        ['POST', path, { body: one('r2', { max: 13 }) }],
        ['POST', path, { body: one('r2', { max: 'many', min: 1 }) }],
        ['POST', path, { body: one('r2', {}) }],
        ['PATCH', `${path}/r`, merge({ spec: { mode: 'a' } })],
        ['PATCH', `${path}/r`, merge({ spec: { mode: 'b' } })],
        ['PATCH', `${path}/r`, merge({ spec: { parts: [{ name: 'a', count: 1 }] } })],
        [
          'PATCH',
          `${path}/r`,
          merge({
            spec: {
              parts: [
                { name: 'b', count: 1 },
                { name: 'a', count: 3 },
              ],
            },
          }),
        ],
      ];
    },
  },
];
