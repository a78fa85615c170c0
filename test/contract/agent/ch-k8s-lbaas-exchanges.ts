/** A request to `/v1/apply`, and the answers of both agents to it. */
export interface Exchange {
  readonly title: string;
  /** The claim `load-balancer-config`. */
  readonly config: object;
  /** The status of ch-k8s-lbaas's agent. It applies nothing of a request that it answers with 400 or 500. */
  readonly original: 200 | 400 | 500;
  /** The frontends that Causeway's agent serves after the request. It answers 200. */
  readonly served: readonly string[];
  /** The number of records that Causeway's agent sets aside. */
  readonly setAside: number;
}

const port = {
  protocol: 'TCP',
  'inbound-port': 80,
  'destination-addresses': ['10.9.8.7', '10.9.8.6'],
  'destination-port': 8080,
  policy: '',
};
const ingress = [{ address: '198.51.100.10', ports: [port] }];
const beside = (change: object) => [
  ...ingress,
  { address: '198.51.100.11', ports: [{ ...port, ...change }] },
];
const policy = (name: string, filter: object) => ({
  name,
  'allowed-ingresses': [{ 'ipblock-filters': null, 'port-filters': [filter] }],
});
const web = { protocol: 'TCP', port: 8080 };
const first = '198.51.100.10:80/TCP';
const second = '198.51.100.11:80/TCP';

/** Both agents got these requests side by side. */
export const exchanges: readonly Exchange[] = [
  {
    title: 'two NetworkPolicies of one name',
    config: { ingress, 'network-policies': [policy('pol', web), policy('pol', web)] },
    original: 200,
    served: [first],
    setAside: 1,
  },
  {
    title: 'a Service without node ports',
    config: { ingress: beside({ 'destination-port': 0 }) },
    original: 200,
    served: [first, second],
    setAside: 1,
  },
  {
    title: 'a pod that is assigned twice',
    config: {
      ingress,
      'network-policies': [policy('pol', web)],
      'policy-assignments': [
        { address: '10.9.8.7', 'network-policies': ['pol'] },
        { address: '10.9.8.7', 'network-policies': ['pol'] },
      ],
    },
    original: 200,
    served: [first],
    setAside: 1,
  },
  {
    title: 'an SCTP port',
    config: { ingress: beside({ protocol: 'SCTP' }) },
    original: 400,
    served: [first],
    setAside: 1,
  },
  {
    title: 'a policy whose end port equals its port',
    config: { ingress, 'network-policies': [policy('pol', { ...web, 'end-port': 8080 })] },
    original: 400,
    served: [first],
    setAside: 0,
  },
  {
    title: 'an IPv6 block in a policy',
    config: {
      ingress,
      'network-policies': [
        {
          name: 'pol',
          'allowed-ingresses': [
            { 'ipblock-filters': [{ allow: '2001:db8::/32', block: null }], 'port-filters': null },
          ],
        },
      ],
    },
    original: 500,
    served: [first],
    setAside: 0,
  },
  {
    title: 'an assignment to an unknown policy',
    config: {
      ingress,
      'policy-assignments': [{ address: '10.9.8.7', 'network-policies': ['gone'] }],
    },
    original: 500,
    served: [first],
    setAside: 1,
  },
];

/** A configuration of the original controller, by backend layer. */
export interface Sent {
  readonly layer: string;
  readonly config: object;
  readonly served: readonly string[];
}

const udp = '198.51.100.10:53/UDP';
const portsTo = (addresses: readonly string[], tcp: number, dns: number) => [
  {
    address: '198.51.100.10',
    ports: [
      { ...port, 'destination-addresses': addresses, 'destination-port': tcp },
      {
        ...port,
        protocol: 'UDP',
        'inbound-port': 53,
        'destination-addresses': addresses,
        'destination-port': dns,
      },
    ],
  },
];
const policies = {
  'network-policies': [
    {
      name: 'pol',
      'allowed-ingresses': [
        {
          'ipblock-filters': [{ allow: '185.187.0.0/16', block: ['185.187.13.0/24'] }],
          'port-filters': [web],
        },
      ],
    },
  ],
  'policy-assignments': [{ address: '10.9.8.7', 'network-policies': ['pol'] }],
};
const none = { 'network-policies': null, 'policy-assignments': null };

/** The first push of the layer Pod after a start has policies and no Service. */
export const firstPush: object = { ingress: [], ...policies };

export const sent: readonly Sent[] = [
  {
    layer: 'Pod',
    config: { ingress: portsTo(['10.9.8.7', '10.9.8.6'], 8080, 5353), ...policies },
    served: [udp, first],
  },
  {
    layer: 'NodePort',
    config: { ingress: portsTo(['127.0.0.1'], 31_115, 31_538), ...none },
    served: [udp, first],
  },
  {
    layer: 'ClusterIP',
    config: { ingress: portsTo(['10.107.105.106'], 80, 53), ...none },
    served: [udp, first],
  },
];
