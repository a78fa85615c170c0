import { apply, patch, type Scenario } from './scenario.ts';

const group = 'contract.causeway.dev';

/** The group is the scenario's own, so that scenarios do not share definitions. */
const definition = (name: string, schema: object, more: object = {}, spec: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${name}s.${group}` },
  spec: {
    group,
    names: {
      plural: `${name}s`,
      kind: name[0]?.toUpperCase() + name.slice(1),
      shortNames: [name.slice(0, 2)],
    },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', ...schema } },
        ...more,
      },
    ],
    ...spec,
  },
});

const gadgetSchema = {
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        colour: { type: 'string', enum: ['red', 'green'], default: 'red' },
        replicas: { type: 'integer', default: 1 },
        name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
        parts: {
          type: 'array',
          maxItems: 3,
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string' }, weight: { type: 'number', default: 1.5 } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        port: { 'x-kubernetes-int-or-string': true },
      },
    },
    status: {
      type: 'object',
      properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' } },
    },
  },
};

const columns = {
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
    { name: 'Colour', type: 'string', jsonPath: '.spec.colour', priority: 1 },
  ],
};

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const tableAccept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

const gadget = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name, ...metadata },
  spec,
});

/** The suite creates the definition before these run, because a real server needs a moment to serve it. */
export const gadgetDefinition = definition('gadget', gadgetSchema, columns);

export const customResourceScenarios: readonly Scenario[] = [
  {
    name: 'custom resources',
    steps: (namespace) => {
      const all = `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
      const one = (name: string, query = '') => `${all}/${name}${query}`;
      return [
        [
          'POST',
          all,
          { body: gadget('a', { size: 3, parts: [{ id: 'x' }], free: { any: { thing: 1 } } }) },
        ],
        ['POST', all, { body: gadget('b', {}) }],
        ['POST', all, { body: gadget('b', { size: 0 }) }],
        ['POST', all, { body: gadget('b', { size: 11, colour: 'blue', name: 'TOO-LONG' }) }],
        ['POST', all, { body: gadget('b', { size: 'x' }) }],
        ['POST', all, { body: gadget('b', { size: 1, parts: [{ id: 'x' }, { id: 'x' }] }) }],
        ['POST', all, { body: gadget('b', { size: 1, parts: [{}] }) }],
        ['POST', all, { body: gadget('b', { size: 1, port: 1.5, labels: { a: 1 } }) }],
        ['POST', all, { body: gadget('pruned', { size: 1, nonsense: true }) }],
        [
          'POST',
          `${all}?fieldValidation=Strict`,
          { body: gadget('b', { size: 1, nonsense: true }) },
        ],
        [
          'POST',
          `${all}?fieldValidation=Ignore`,
          { body: gadget('ignored', { size: 1, nonsense: true }) },
        ],
        ['POST', all, { body: { ...gadget('statusful', { size: 1 }), status: { ready: true } } }],
        ['GET', one('a')],
        ['GET', all],
        ['GET', all, { headers: tableAccept }],
        ['PATCH', one('a'), { body: { spec: { size: 4 } }, contentType: patch('merge') }],
        ['PATCH', one('a'), { body: { spec: { size: 40 } }, contentType: patch('merge') }],
        ['PATCH', one('a'), { body: { spec: { colour: null } }, contentType: patch('merge') }],
        ['PATCH', one('a'), { body: { spec: { size: 5 } }, contentType: patch('strategic-merge') }],
        [
          'PATCH',
          one('a'),
          {
            body: [{ op: 'add', path: '/spec/labels', value: { x: 'y' } }],
            contentType: patch('json'),
          },
        ],
        [
          'PATCH',
          one('a', '/status'),
          {
            body: {
              status: { ready: true, replicas: 2 },
              spec: { size: 9 },
              metadata: { labels: { no: 'no' } },
            },
            contentType: patch('merge'),
          },
        ],
        [
          'PATCH',
          one('a', '/status'),
          { body: { status: { ready: 'x' } }, contentType: patch('merge') },
        ],
        ['GET', one('a', '/scale')],
        [
          'PATCH',
          one('a', '/scale'),
          { body: { spec: { replicas: 7 } }, contentType: patch('merge') },
        ],
        ['PUT', one('a'), { body: gadget('a', { size: 6 }) }],
        ['PUT', one('not-there'), { body: gadget('not-there', { size: 6 }) }],
        [
          'PATCH',
          one('applied', '?fieldManager=one'),
          {
            body: gadget('applied', { size: 2, parts: [{ id: 'x', weight: 2 }] }),
            contentType: apply,
          },
        ],
        [
          'PATCH',
          one('applied', '?fieldManager=two'),
          { body: gadget('applied', { size: 3, parts: [{ id: 'y' }] }), contentType: apply },
        ],
        [
          'PATCH',
          one('applied', '?fieldManager=two'),
          { body: gadget('applied', { size: 2, parts: [{ id: 'y' }] }), contentType: apply },
        ],
        [
          'PATCH',
          one('applied', '?fieldManager=one'),
          { body: gadget('applied', { size: 2 }), contentType: apply },
        ],
        [
          'PATCH',
          one('applied', '/status?fieldManager=status'),
          {
            body: { ...gadget('applied', { size: 2 }), status: { ready: true } },
            contentType: apply,
          },
        ],
        ['DELETE', one('a')],
        ['GET', one('a')],
        ['DELETE', all],
        ['GET', `/apis/${group}/v1`],
        ['GET', `/apis/${group}`],
      ];
    },
  },
  {
    name: 'definitions that are refused',
    steps: () => [
      ['POST', crds, { body: { ...definition('thing', {}), metadata: { name: 'wrong' } } }],
      ['POST', crds, { body: definition('thing', { properties: { spec: {} } }) }],
      [
        'POST',
        crds,
        { body: definition('thing', { properties: { spec: { type: 'object', default: 1 } } }) },
      ],
      ['POST', crds, { body: definition('thing', {}, { schema: undefined }) }],
      ['POST', crds, { body: definition('thing', {}, {}, { scope: 'Nonsense' }) }],
      ['POST', crds, { body: definition('thing', {}, {}, { group: 'other.example.com' }) }],
      ['POST', crds, { body: definition('thing', { properties: { a: { type: 'array' } } }) }],
    ],
  },
];
