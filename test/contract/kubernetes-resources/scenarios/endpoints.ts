import { core, patch, type Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const merge = (body: object) => ({ body, contentType: patch('merge') });

export const endpointScenarios: readonly Scenario[] = [
  {
    name: 'EndpointSlices and Endpoints',
    steps: (namespace) => {
      const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
      const slice = (name: string, fields: object) => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name },
        addressType: 'IPv4',
        ...fields,
      });
      const endpoints = (name: string, subsets: object[]) => ({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name },
        subsets,
      });
      return [
        [
          'POST',
          slices,
          { body: slice('a', { endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] }) },
        ],
        [
          'POST',
          slices,
          {
            body: slice('b', {
              addressType: 'IPv6',
              endpoints: [{ addresses: ['2001:db8::1'], conditions: { ready: true } }],
            }),
          },
        ],
        ['POST', slices, { body: slice('x', { addressType: 'IPX' }) }],
        [
          'POST',
          slices,
          {
            body: slice('x', {
              endpoints: [
                { addresses: [] },
                { addresses: ['2001:db8::1'] },
                { addresses: ['127.0.0.1'] },
                { addresses: ['x'] },
              ],
            }),
          },
        ],
        [
          'POST',
          slices,
          {
            body: slice('x', {
              endpoints: [],
              ports: [
                { name: 'a', port: 1 },
                { name: 'a', port: 2 },
                { name: 'B', protocol: 'ICMP' },
              ],
            }),
          },
        ],
        [
          'POST',
          slices,
          {
            body: slice('x', {
              endpoints: [{ addresses: ['10.0.0.1'], hostname: 'Not.A.Label', nodeName: '-x' }],
            }),
          },
        ],
        ['PATCH', `${slices}/a`, merge({ addressType: 'IPv6' })],
        [
          'POST',
          core(namespace, 'endpoints'),
          { body: endpoints('a', [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }]) },
        ],
        [
          'POST',
          core(namespace, 'endpoints'),
          { body: endpoints('x', [{ ports: [{ port: 80 }] }]) },
        ],
        [
          'POST',
          core(namespace, 'endpoints'),
          {
            body: endpoints('x', [
              {
                addresses: [{ ip: '169.254.1.1' }, { ip: 'x' }],
                ports: [{ port: 0 }, { port: 80, name: 'A' }],
              },
            ]),
          },
        ],
      ];
    },
  },
];
