import {
  apps,
  core,
  deployment,
  patch,
  service,
  type Scenario,
} from '../../kubernetes-api/scenarios/scenario.ts';

const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };
const status = (body: object) => ({ body: { status: body }, contentType: patch('merge') });

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'y' },
    ],
    ...spec,
  },
});

const container = (name: string, state: object, fields: object = {}) => ({
  name,
  image: 'x',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...fields,
});

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

/** States of pods that kubectl has names for. */
const podStates: Readonly<Record<string, object>> = {
  half: {
    phase: 'Running',
    containerStatuses: [container('a', running, { ready: true }), container('b', running)],
  },
  crashing: {
    phase: 'Running',
    containerStatuses: [
      container(
        'a',
        { waiting: { reason: 'CrashLoopBackOff' } },
        {
          restartCount: 4,
          lastState: { terminated: { exitCode: 1, finishedAt: '2020-01-01T00:00:00Z' } },
        },
      ),
    ],
  },
  failed: { phase: 'Failed', containerStatuses: [container('a', { terminated: { exitCode: 3 } })] },
  killed: {
    phase: 'Failed',
    containerStatuses: [container('a', { terminated: { exitCode: 137, signal: 9 } })],
  },
  done: {
    phase: 'Succeeded',
    containerStatuses: [container('a', { terminated: { exitCode: 0, reason: 'Completed' } })],
  },
  evicted: { phase: 'Failed', reason: 'Evicted' },
  addressed: {
    phase: 'Running',
    podIP: '10.1.1.1',
    podIPs: [{ ip: '10.1.1.1' }, { ip: 'fd00::1' }],
  },
};

export const tableScenarios: readonly Scenario[] = [
  {
    name: 'tables of pods',
    steps: (namespace) => [
      ...Object.keys(podStates).map(
        (name) => ['POST', core(namespace, 'pods'), { body: pod(name) }] as const,
      ),
      ...Object.entries(podStates).map(
        ([name, state]) =>
          ['PATCH', core(namespace, `pods/${name}/status`), status(state)] as const,
      ),
      [
        'POST',
        core(namespace, 'pods'),
        { body: pod('gated', { readinessGates: [{ conditionType: 'example.com/a' }] }) },
      ],
      ['POST', core(namespace, 'pods'), { body: pod('leaving', { nodeName: 'somewhere' }) }],
      ['DELETE', core(namespace, 'pods/leaving')],
      ['GET', core(namespace, 'pods'), asTable],
    ],
  },
  {
    name: 'tables of Services and endpoints',
    steps: (namespace) => [
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('plain', {
            ports: [{ port: 80 }],
            clusterIP: '10.96.8.1',
            selector: { b: '2', a: '1' },
          }),
        },
      ],
      ['POST', core(namespace, 'services'), { body: service('headless', { clusterIP: 'None' }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('named', { type: 'ExternalName', externalName: 'example.com' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('node', {
            type: 'NodePort',
            clusterIP: '10.96.8.2',
            ports: [{ port: 80, nodePort: 31_501 }],
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('waiting', {
            type: 'LoadBalancer',
            clusterIP: '10.96.8.3',
            ports: [{ port: 80, nodePort: 31_502 }],
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('served', {
            type: 'LoadBalancer',
            clusterIP: '10.96.8.4',
            ports: [{ port: 53, protocol: 'UDP', nodePort: 31_503 }],
          }),
        },
      ],
      [
        'PATCH',
        core(namespace, 'services/served/status'),
        status({ loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'a.example.com' }] } }),
      ],
      ['GET', core(namespace, 'services'), asTable],
      [
        'POST',
        core(namespace, 'endpoints'),
        {
          body: {
            apiVersion: 'v1',
            kind: 'Endpoints',
            metadata: { name: 'e' },
            subsets: [
              {
                addresses: ['1', '2', '3', '4'].map((last) => ({ ip: `10.0.0.${last}` })),
                ports: [{ port: 80 }],
              },
            ],
          },
        },
      ],
      [
        'POST',
        core(namespace, 'endpoints'),
        { body: { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'none' } } },
      ],
      ['GET', core(namespace, 'endpoints'), asTable],
    ],
  },
  {
    name: 'tables of other kinds',
    steps: (namespace) => [
      ['POST', apps(namespace, 'deployments'), { body: deployment('web', { replicas: 3 }) }],
      [
        'PATCH',
        apps(namespace, 'deployments/web/status'),
        status({ replicas: 3, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 }),
      ],
      ['GET', apps(namespace, 'deployments'), asTable],
      [
        'POST',
        core(namespace, 'configmaps'),
        {
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'c' },
            data: { a: '' },
            binaryData: { b: 'AA==' },
          },
        },
      ],
      ['GET', core(namespace, 'configmaps'), asTable],
      [
        'POST',
        core(namespace, 'secrets'),
        {
          body: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 's' },
            stringData: { a: 'b' },
          },
        },
      ],
      ['GET', core(namespace, 'secrets'), asTable],
      [
        'POST',
        '/api/v1/nodes',
        {
          body: {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name: 'table-node', labels: { 'node-role.kubernetes.io/gateway': '' } },
            spec: { unschedulable: true },
            status: {
              addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
              conditions: [{ type: 'Ready', status: 'True' }],
              nodeInfo: {
                architecture: 'amd64',
                bootID: '',
                containerRuntimeVersion: 'x://1',
                kernelVersion: '6.1',
                kubeProxyVersion: '',
                kubeletVersion: 'v1.36.3',
                machineID: '',
                operatingSystem: 'linux',
                osImage: 'Debian',
                systemUUID: '',
              },
            },
          },
        },
      ],
      ['GET', '/api/v1/nodes/table-node', asTable],
      ['GET', `/api/v1/namespaces/${namespace}`, asTable],
    ],
  },
];
