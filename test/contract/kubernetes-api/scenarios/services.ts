import { core, patch, service, web, type Scenario } from './scenario.ts';

export const serviceScenarios: readonly Scenario[] = [
  {
    name: 'the life of a Service',
    steps: (namespace) => [
      ['POST', core(namespace, 'services'), { body: service('a', web) }],
      ['POST', core(namespace, 'services'), { body: service('a', web) }],
      ['GET', core(namespace, 'services/a')],
      ['GET', core(namespace, 'services')],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { metadata: { labels: { x: 'y' } } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'NodePort' } }, contentType: patch('strategic-merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        {
          body: {
            spec: {
              ports: [
                { port: 443, name: 'tls' },
                { port: 80, name: 'plain' },
              ],
            },
          },
          contentType: patch('strategic-merge'),
        },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'LoadBalancer' } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a/status'),
        {
          body: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
          contentType: patch('merge'),
        },
      ],
      ['GET', core(namespace, 'services/a/status')],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'ClusterIP' } }, contentType: patch('merge') },
      ],
      ['DELETE', core(namespace, 'services/a')],
      ['GET', core(namespace, 'services/a')],
      ['DELETE', core(namespace, 'services/a')],
    ],
  },
  {
    name: 'Services of every sort',
    steps: (namespace) => [
      [
        'POST',
        core(namespace, 'services'),
        { body: service('headless', { ...web, clusterIP: 'None' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('external', { type: 'ExternalName', externalName: 'example.com' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('local', { ...web, type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('portless', {
            ...web,
            type: 'LoadBalancer',
            allocateLoadBalancerNodePorts: false,
            loadBalancerClass: 'causeway.dev/gateway',
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('dual', { ...web, ipFamilyPolicy: 'PreferDualStack' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('six', { ...web, ipFamilies: ['IPv6'] }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('sticky', { ...web, sessionAffinity: 'ClientIP' }) },
      ],
    ],
  },
  {
    name: 'Services that are refused',
    steps: (namespace) => [
      ['POST', core(namespace, 'services'), { body: service('Bad_Name', web) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('no-ports', { selector: { a: 'b' } }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ports: [{ port: 0 }] }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80 }, { port: 81 }] }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('x', {
            ports: [
              { port: 80, name: 'a' },
              { port: 80, name: 'b' },
            ],
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80, protocol: 'ICMP' }] }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ...web, type: 'Nonsense' }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, clusterIP: '1.2.3.4' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, externalTrafficPolicy: 'Local' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, loadBalancerClass: 'a/b' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80, nodePort: 30000 }] }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ports: [{ port: '80' }] }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', web, { labels: { 'bad key!': 'v' } }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, externalIPs: ['nonsense'] }) },
      ],
    ],
  },
];
