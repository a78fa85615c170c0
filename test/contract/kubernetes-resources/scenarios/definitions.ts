import type { Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const group = 'shapes.example.com';

const properties = {
  spec: {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', minimum: 1, maximum: 9 },
      colour: { type: 'string', enum: ['red', 'blue'], default: 'red' },
      name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
      address: { type: 'string', format: 'ipv4' },
      network: { type: 'string', format: 'cidr' },
      when: { type: 'string', format: 'date-time' },
      port: { 'x-kubernetes-int-or-string': true },
      maybe: { type: 'string', nullable: true },
      tags: {
        type: 'array',
        'x-kubernetes-list-type': 'set',
        maxItems: 3,
        items: { type: 'string' },
      },
      parts: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
        },
      },
      labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 2 },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      either: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      ratio: { type: 'number', exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    },
  },
  status: {
    type: 'object',
    properties: { phase: { type: 'string' }, replicas: { type: 'integer' } },
  },
};

/** Rules about fields, relations between fields, and changes. */
export const ruled = definition('rules', 'Ruled', {
  versions: [
    version(
      {},
      {
        type: 'object',
        'x-kubernetes-validations': [
          { rule: 'self.metadata.name.startsWith("r")', message: 'names start with r' },
        ],
        properties: {
          spec: {
            type: 'object',
            'x-kubernetes-validations': [
              { rule: '!has(self.min) || self.min <= self.max', message: 'min may not exceed max' },
              {
                rule: 'self.max <= 100',
                messageExpression: 'self.max > 150 ? "far too high" : "too high"',
                fieldPath: '.max',
              },
              {
                rule: 'has(self.mode) || self.max < 50',
                reason: 'FieldValueRequired',
                fieldPath: '.mode',
              },
              { rule: 'self.tags.all(t, t.size() > 0)' },
              { rule: 'self.absent == 1 || self.max != 13' },
            ],
            required: ['max'],
            properties: {
              min: { type: 'integer' },
              max: { type: 'integer' },
              absent: { type: 'integer' },
              mode: {
                type: 'string',
                maxLength: 10,
                'x-kubernetes-validations': [
                  { rule: 'self == oldSelf', message: 'the mode may not change' },
                ],
              },
              tags: {
                type: 'array',
                default: [],
                maxItems: 5,
                items: { type: 'string', maxLength: 10 },
              },
              parts: {
                type: 'array',
                maxItems: 5,
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['name'],
                items: {
                  type: 'object',
                  required: ['name'],
                  'x-kubernetes-validations': [
                    { rule: 'self.count >= oldSelf.count', message: 'counts only grow' },
                  ],
                  properties: {
                    name: { type: 'string', maxLength: 10 },
                    count: { type: 'integer', default: 0 },
                  },
                },
              },
            },
          },
        },
      },
    ),
  ],
});

/** Two versions, a status, a scale and columns: the definition for the scenarios of custom resources. */
export const shapes = definition('shapes', 'Shape', {
  names: { plural: 'shapes', kind: 'Shape', shortNames: ['sh'], categories: ['all'] },
  versions: [
    version({
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
      },
      selectableFields: [{ jsonPath: '.spec.colour' }],
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        { name: 'Colour', type: 'string', jsonPath: '.spec.colour', priority: 1 },
      ],
    }),
    version(
      { name: 'v1beta1', storage: false },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ),
  ],
});

function definition(plural: string, kind: string, spec: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [version({})],
      ...spec,
    },
  };
}

function version(fields: object, schema: object = { type: 'object', properties }): object {
  return {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...fields,
  };
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const definitionScenarios: readonly Scenario[] = [
  {
    name: 'definitions that are refused',
    steps: () => {
      const plain = { type: 'object', properties: { spec: { type: 'object' } } };
      const withSchema = (schema: object) =>
        definition('bad', 'Bad', { versions: [version({}, schema)] });
      const field = (schema: object) => withSchema({ type: 'object', properties: { a: schema } });
      const refused: readonly object[] = [
        { ...definition('bad', 'Bad'), metadata: { name: 'wrong.example.com' } },
        definition('bad', 'Bad', { scope: 'Everywhere' }),
        definition('bad', 'Bad', { versions: [] }),
        definition('bad', 'Bad', { versions: [version({ storage: false }, plain)] }),
        definition('bad', 'Bad', { versions: [version({ name: 'V1' }, plain)] }),
        definition('bad', 'Bad', { names: { plural: 'bad', kind: 'Bad', listKind: 'Bad' } }),
        definition('bad', 'Bad', {
          names: { plural: 'bad', kind: 'not a kind', shortNames: ['B'] },
        }),
        definition('bad', 'Bad', { versions: [{ name: 'v1', served: true, storage: true }] }),
        definition('bad', 'Bad', {
          versions: [
            version(
              { additionalPrinterColumns: [{ name: 'a', type: 'colour', jsonPath: 'spec' }] },
              plain,
            ),
          ],
        }),
        definition('bad', 'Bad', {
          versions: [
            version(
              {
                subresources: {
                  scale: { specReplicasPath: '.status.a', statusReplicasPath: '.spec.b' },
                },
              },
              plain,
            ),
          ],
        }),
        withSchema({ type: 'string' }),
        withSchema({ type: 'object', nullable: true }),
        withSchema({ properties: { a: { type: 'string' } } }),
        field({}),
        field({ type: 'array' }),
        field({ type: 'text' }),
        field({ type: 'integer', default: 'x' }),
        field({ type: 'array', uniqueItems: true, items: { type: 'string' } }),
        field({
          type: 'object',
          properties: { b: { type: 'string' } },
          additionalProperties: { type: 'string' },
        }),
        field({ type: 'string', anyOf: [{ type: 'string' }] }),
        withSchema({ type: 'object', anyOf: [{ properties: { b: { minimum: 1 } } }] }),
        field({
          type: 'array',
          'x-kubernetes-list-type': 'map',
          items: { type: 'object', properties: { k: { type: 'string' } } },
        }),
        field({
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' } } },
        }),
        field({ type: 'string', 'x-kubernetes-list-type': 'set' }),
        withSchema({
          type: 'object',
          properties: { metadata: { type: 'object', required: ['labels'] } },
        }),
      ];
      return refused.map((body) => ['POST', definitions, { body }] as const);
    },
  },
];
