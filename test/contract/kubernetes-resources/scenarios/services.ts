import { core, patch, service, type Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const merge = (body: object) => ({ body, contentType: patch('merge') });
const ports = [{ port: 80 }];

export const serviceScenarios: readonly Scenario[] = [
  {
    name: 'Services and IP families',
    steps: (namespace) => {
      const post = (name: string, spec: object) =>
        ['POST', core(namespace, 'services'), { body: service(name, spec) }] as const;
      const change = (name: string, spec: object) =>
        ['PATCH', core(namespace, `services/${name}`), merge({ spec })] as const;
      return [
        post('prefer', { ports, ipFamilyPolicy: 'PreferDualStack' }),
        post('require', { ports, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }),
        post('six', { ports, ipFamilies: ['IPv6'] }),
        post('asked', { ports, clusterIP: '10.96.7.7' }),
        post('taken', { ports, clusterIP: '10.96.7.7' }),
        post('outside', { ports, clusterIP: '10.97.0.1' }),
        post('both', {
          ports,
          clusterIP: '10.96.7.8',
          clusterIPs: ['10.96.7.8', 'fd00:96::7:8'],
          ipFamilyPolicy: 'RequireDualStack',
        }),
        post('headless', { ports, clusterIP: 'None', selector: { a: 'b' } }),
        post('bare', { clusterIP: 'None' }),
        post('x', { ports, clusterIP: '10.96.7.9', clusterIPs: ['10.96.7.10'] }),
        post('x', { ports, clusterIPs: ['10.96.7.10'] }),
        post('x', { ports, ipFamilies: ['IPv4', 'IPv6'] }),
        post('x', { ports, ipFamilies: ['IPv4', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' }),
        post('x', { ports, ipFamilies: ['IPX'] }),
        post('x', { ports, ipFamilyPolicy: 'Perhaps' }),
        post('x', { ports, clusterIP: '10.96.7.11', ipFamilies: ['IPv6'] }),
        change('six', { ipFamilyPolicy: 'RequireDualStack' }),
        change('six', { ipFamilyPolicy: 'SingleStack' }),
        change('six', { ipFamilies: ['IPv4'] }),
        change('prefer', { ipFamilyPolicy: 'SingleStack' }),
        change('require', { clusterIP: '10.96.7.12' }),
        change('headless', { clusterIP: '10.96.7.13' }),
        change('asked', { clusterIP: null, clusterIPs: null }),
        change('asked', { type: 'ExternalName', externalName: 'example.com' }),
        change('asked', { type: 'ClusterIP', externalName: null }),
      ];
    },
  },
  {
    name: 'Services and node ports',
    steps: (namespace) => {
      const post = (name: string, spec: object) =>
        ['POST', core(namespace, 'services'), { body: service(name, spec) }] as const;
      const change = (name: string, spec: object) =>
        ['PATCH', core(namespace, `services/${name}`), merge({ spec })] as const;
      return [
        post('node', { type: 'NodePort', ports: [{ port: 80, nodePort: 31_111 }] }),
        post('taken', { type: 'NodePort', ports: [{ port: 80, nodePort: 31_111 }] }),
        post('outside', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
        post('dns', {
          type: 'NodePort',
          ports: [
            { name: 'u', port: 53, protocol: 'UDP' },
            { name: 't', port: 53 },
          ],
        }),
        post('none', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports }),
        post('local', {
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
          healthCheckNodePort: 31_112,
          ports,
        }),
        post('health', {
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
          healthCheckNodePort: 31_112,
          ports,
        }),
        change('local', { healthCheckNodePort: 31_113 }),
        change('local', { externalTrafficPolicy: 'Cluster' }),
        change('none', { allocateLoadBalancerNodePorts: true }),
        change('node', { type: 'ClusterIP' }),
        post('again', { type: 'NodePort', ports: [{ port: 80, nodePort: 31_111 }] }),
      ];
    },
  },
  {
    name: 'Services with odd fields',
    steps: (namespace) => {
      const refused: readonly object[] = [
        { ports: [{ port: 0, protocol: 'ICMP', targetPort: 'UPPER' }] },
        {
          ports: [
            { port: 80, name: 'a' },
            { port: 80, name: 'a' },
          ],
        },
        { ports, selector: { 'bad key': 'x' } },
        { ports, sessionAffinity: 'Forever' },
        {
          ports,
          sessionAffinity: 'ClientIP',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 100_000 } },
        },
        { ports, externalIPs: ['127.0.0.1', 'x'] },
        { ports, externalTrafficPolicy: 'Local' },
        { ports, internalTrafficPolicy: 'Nowhere' },
        { ports, loadBalancerClass: 'a.b/c' },
        { ports, allocateLoadBalancerNodePorts: true },
        { ports, loadBalancerSourceRanges: ['10.0.0.0/8'] },
        { type: 'LoadBalancer', ports, loadBalancerSourceRanges: ['x'], loadBalancerClass: 'a b' },
        { type: 'LoadBalancer', ports, clusterIP: 'None' },
        { type: 'ExternalName', externalName: 'Not A Name' },
        { type: 'ExternalName', externalName: 'example.com', clusterIP: '10.96.7.20' },
        { ports, trafficDistribution: 'PreferFar' },
      ];
      return [
        ...refused.map(
          (spec) => ['POST', core(namespace, 'services'), { body: service('x', spec) }] as const,
        ),
        [
          'POST',
          core(namespace, 'services'),
          {
            body: service('ok', { ports, externalIPs: ['192.0.2.1'], sessionAffinity: 'ClientIP' }),
          },
        ],
        [
          'POST',
          core(namespace, 'services'),
          { body: service('lb', { type: 'LoadBalancer', ports, loadBalancerClass: 'a.b/c' }) },
        ],
        ['PATCH', core(namespace, 'services/lb'), merge({ spec: { loadBalancerClass: 'a.b/d' } })],
        [
          'PATCH',
          core(namespace, 'services/lb/status'),
          merge({
            status: {
              loadBalancer: {
                ingress: [
                  { ip: 'x' },
                  { hostname: '10.0.0.1' },
                  { ip: '192.0.2.1', ipMode: 'Odd' },
                ],
              },
            },
          }),
        ],
        [
          'PATCH',
          core(namespace, 'services/ok/status'),
          merge({ status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }),
        ],
        ['PATCH', core(namespace, 'services/lb'), merge({ spec: { type: 'NodePort' } })],
        ['GET', core(namespace, 'services?fieldSelector=spec.type=NodePort')],
      ];
    },
  },
];
