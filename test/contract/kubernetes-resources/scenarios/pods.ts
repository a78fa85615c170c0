import { core, patch, type Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const pod = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec,
});
const main = { name: 'main', image: 'example/web:1' };
const merge = (body: object) => ({ body, contentType: patch('merge') });

export const podScenarios: readonly Scenario[] = [
  {
    name: 'Pods as they are filled in',
    steps: (namespace) => {
      const post = (name: string, spec: object) =>
        ['POST', core(namespace, 'pods'), { body: pod(name, spec) }] as const;
      return [
        post('plain', { containers: [main] }),
        post('latest', {
          containers: [
            { name: 'a', image: 'example/web' },
            { name: 'b', image: 'example/web:latest' },
            {
              name: 'c',
              image:
                'host:5000/web@sha256:0000000000000000000000000000000000000000000000000000000000000000',
            },
          ],
        }),
        post('resources', {
          containers: [
            {
              ...main,
              resources: { limits: { cpu: 1, memory: '1024Mi' }, requests: { cpu: '0.5' } },
            },
          ],
        }),
        post('guaranteed', {
          containers: [{ ...main, resources: { limits: { cpu: '1000m', memory: '1Gi' } } }],
        }),
        post('host', {
          hostNetwork: true,
          containers: [{ ...main, ports: [{ containerPort: 80 }] }],
        }),
        post('volumes', {
          containers: [
            {
              ...main,
              volumeMounts: [{ name: 's', mountPath: '/s' }],
              env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            },
          ],
          volumes: [
            { name: 's', secret: { secretName: 'x' } },
            { name: 'c', configMap: { name: 'x' } },
            { name: 'e', emptyDir: {} },
            { name: 'none' },
            { name: 'h', hostPath: { path: '/x' } },
          ],
        }),
        post('probes', {
          containers: [
            {
              ...main,
              readinessProbe: { httpGet: { port: 80 } },
              livenessProbe: { tcpSocket: { port: 80 } },
            },
          ],
        }),
        post('tolerant', { containers: [main], tolerations: [{ operator: 'Exists' }] }),
        ['GET', core(namespace, 'pods?fieldSelector=status.phase=Pending,spec.nodeName=')],
        ['GET', core(namespace, 'pods?fieldSelector=spec.hostNetwork=true')],
        ['PATCH', core(namespace, 'pods/plain'), merge({ spec: { activeDeadlineSeconds: 60 } })],
        [
          'PATCH',
          core(namespace, 'pods/plain'),
          {
            body: [{ op: 'replace', path: '/spec/containers/0/image', value: 'example/web:2' }],
            contentType: patch('json'),
          },
        ],
        [
          'PATCH',
          core(namespace, 'pods/plain/status'),
          {
            body: {
              status: {
                phase: 'Running',
                podIP: '10.1.1.1',
                podIPs: [{ ip: '10.1.1.1' }],
                conditions: [{ type: 'Ready', status: 'True' }],
              },
            },
            contentType: patch('strategic-merge'),
          },
        ],
      ];
    },
  },
  {
    name: 'Pods that are refused',
    steps: (namespace) => {
      const refused: readonly object[] = [
        {},
        { containers: [] },
        { containers: [{}] },
        { containers: [{ name: 'UPPER', image: 'x' }] },
        { containers: [main, main] },
        { containers: [{ ...main, ports: [{ containerPort: 0 }, { containerPort: 70_000 }] }] },
        {
          containers: [
            {
              ...main,
              ports: [
                { containerPort: 80, name: 'a_b' },
                { containerPort: 81, protocol: 'ICMP' },
              ],
            },
          ],
        },
        { containers: [{ ...main, volumeMounts: [{ name: 'absent', mountPath: '/x' }] }] },
        {
          containers: [main],
          volumes: [
            { name: 'a', emptyDir: {} },
            { name: 'a', emptyDir: {} },
          ],
        },
        { containers: [main], restartPolicy: 'Sometimes' },
        { containers: [main], dnsPolicy: 'Nobody' },
        { containers: [main], nodeName: 'Not A Name' },
        { containers: [{ ...main, imagePullPolicy: 'Perhaps' }] },
      ];
      return refused.map(
        (spec) => ['POST', core(namespace, 'pods'), { body: pod('x', spec) }] as const,
      );
    },
  },
];
