import type { Step } from '../transcript.ts';
import { configMap, core, type Scenario } from './scenario.ts';

export const listScenarios: readonly Scenario[] = [
  {
    name: 'lists and their selectors',
    steps: (namespace) => [
      ...['a', 'b', 'c'].map(
        (name): Step => [
          'POST',
          core(namespace, 'configmaps'),
          { body: configMap(name, {}, { labels: { name, kind: name < 'c' ? 'early' : 'late' } }) },
        ],
      ),
      ['GET', `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('kind=early')}`],
      [
        'GET',
        `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('name in (a,c)')}`,
      ],
      ['GET', `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('!kind')}`],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('metadata.name=b')}`,
      ],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('metadata.name!=b')}`,
      ],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('spec.nonsense=b')}`,
      ],
      ['GET', `${core(namespace, 'configmaps')}?limit=2`],
      ['GET', `${core(namespace, 'configmaps')}?limit=1&labelSelector=kind%3Dearly`],
      ['GET', `${core(namespace, 'configmaps')}?limit=x`],
      ['GET', `${core(namespace, 'configmaps')}?continue=nonsense`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersion=x`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Exact`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Exact&resourceVersion=0`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Nonsense&resourceVersion=1`],
      ['GET', `${core(namespace, 'configmaps')}?watch=true&sendInitialEvents=true`],
      ['GET', `${core(namespace, 'configmaps')}?watch=true&resourceVersionMatch=NotOlderThan`],
      [
        'GET',
        core(namespace, 'configmaps'),
        { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
      ],
      [
        'GET',
        core(namespace, 'configmaps/a'),
        { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } },
      ],
      [
        'GET',
        core(namespace, 'configmaps/a'),
        { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } },
      ],
      ['GET', core(namespace, 'configmaps'), { headers: { accept: 'text/plain' } }],
      ['DELETE', `${core(namespace, 'configmaps')}?labelSelector=kind%3Dearly`],
      ['GET', core(namespace, 'configmaps')],
    ],
  },
];
