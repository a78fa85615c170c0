/** Arguments of kubectl, and its standard input. */
export type Command = readonly [args: readonly string[], input?: string];

export interface KubectlScenario {
  readonly name: string;
  readonly commands: readonly Command[];
}

const words = (line: string) => line.split(' ');
const yaml = (object: object) => JSON.stringify(object);
const stdin = ['-f', '-'];

const deployment = (image: string, metadata: object = {}) =>
  yaml({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', ...metadata },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image, ports: [{ containerPort: 80 }] }] },
      },
    },
  });

const listOf = (object: string) => `{"apiVersion":"v1","kind":"List","items":[${object}]}`;

const service = (spec: object) =>
  yaml({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec });

const node = yaml({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'contract-node', labels: { zone: 'a' } },
  spec: { podCIDR: '10.244.0.0/24' },
});

/** Commands of users. Both servers have to answer so that kubectl prints the same. */
export const kubectlScenarios: readonly KubectlScenario[] = [
  {
    name: 'apply, get, label, annotate, scale, patch, describe, delete',
    commands: [
      [['apply', ...stdin], deployment('example/web:1')],
      [words('get deployments')],
      [words('get deployments -o wide')],
      [words('get deploy/web -o name')],
      [words('get deploy web -o yaml')],
      [['apply', ...stdin], deployment('example/web:2', { labels: { tier: 'front' } })],
      [['apply', ...stdin], deployment('example/web:2', { labels: { tier: 'front' } })],
      [['apply', ...stdin], deployment('example/web:2')],
      [words('diff -f -'), deployment('example/web:2')],
      [words('label deployment web stage=test')],
      [words('label deployment web stage=test')],
      [words('label deployment web stage=other')],
      [words('label deployment web stage=other --overwrite')],
      [words('label deployment web stage-')],
      [words('annotate deployment web note=hello')],
      [words('annotate deployment web note-')],
      [words('scale deployment web --replicas=5')],
      [words('scale deployment web --replicas=1 --current-replicas=9')],
      [['patch', 'deployment', 'web', '-p', '{"spec":{"replicas":4}}']],
      [['patch', 'deployment', 'web', '--type=merge', '-p', '{"spec":{"replicas":3}}']],
      [
        [
          'patch',
          'deployment',
          'web',
          '--type=json',
          '-p',
          '[{"op":"replace","path":"/spec/replicas","value":2}]',
        ],
      ],
      [
        [
          'patch',
          'deployment',
          'web',
          '--subresource=status',
          '--type=merge',
          '-p',
          '{"status":{"replicas":1}}',
        ],
      ],
      [words('set image deployment/web main=example/web:3')],
      [words('describe deployment web')],
      [words('get deploy web -o jsonpath={.spec.replicas}')],
      [words('rollout status deployment web --timeout=1s')],
      [words('delete deployment web')],
      [words('delete deployment web')],
      [words('delete deployment web --ignore-not-found')],
      [words('get deployments')],
    ],
  },
  {
    name: 'apply --server-side',
    commands: [
      [['apply', '--server-side', ...stdin], deployment('example/web:1')],
      [['apply', '--server-side', ...stdin], deployment('example/web:1')],
      [['apply', '--server-side', '--field-manager=other', ...stdin], deployment('example/web:2')],
      [
        ['apply', '--server-side', '--field-manager=other', '--force-conflicts', ...stdin],
        deployment('example/web:2'),
      ],
      [['apply', '--server-side', ...stdin], deployment('example/web:3')],
      [
        ['apply', '--server-side', '--dry-run=server', '--force-conflicts', ...stdin],
        deployment('example/web:3'),
      ],
      [words('get deploy web -o json --show-managed-fields')],
    ],
  },
  {
    name: 'a List of objects',
    commands: [
      [['apply', ...stdin], listOf(deployment('example/web:1'))],
      [['apply', ...stdin], listOf(deployment('example/web:2'))],
      [words('get deploy web -o jsonpath={..image}')],
    ],
  },
  {
    name: 'from client-side to server-side apply',
    commands: [
      [['apply', ...stdin], deployment('example/web:1')],
      [['apply', '--server-side', ...stdin], deployment('example/web:2')],
      [words('get deploy web -o json --show-managed-fields')],
    ],
  },
  {
    name: 'create by subcommands, which send protobuf',
    commands: [
      [words('create deployment web --image=example/web:1 --replicas=0 --port=80')],
      [words('create deployment web --image=example/web:1')],
      [words('get deployment web -o json --show-managed-fields')],
      [words('create service nodeport web --tcp=80:8080')],
      [words('create service externalname out --external-name=example.com')],
      [words('get services -o yaml')],
      [words('create configmap cm --from-literal=a=b')],
      [words('create secret generic s --from-literal=a=b')],
      [words('get cm/cm secret/s -o yaml')],
      [words('create serviceaccount sa')],
      [words('autoscale deployment web --min=1 --max=3 --cpu=80%')],
      [words('get hpa web -o yaml')],
      [words('expose deployment web --name=exposed --port=80')],
      [words('run p --image=example/web:1 --port=80 --labels=a=b')],
      [words('get pod p -o yaml')],
      [words('create namespace created-by-kubectl')],
      [words('get namespace created-by-kubectl -o yaml')],
    ],
  },
  {
    name: 'Services',
    commands: [
      [
        ['apply', ...stdin],
        service({ selector: { app: 'web' }, ports: [{ port: 80, name: 'http' }] }),
      ],
      [words('get services')],
      [words('get service web -o wide')],
      [
        ['apply', ...stdin],
        service({
          type: 'NodePort',
          selector: { app: 'web' },
          ports: [
            { port: 80, name: 'http' },
            { port: 443, name: 'https' },
          ],
        }),
      ],
      [words('describe service web')],
      [
        ['apply', ...stdin],
        service({ selector: { app: 'web' }, ports: [{ port: 443, name: 'https' }] }),
      ],
      [words('get svc,ep,endpointslices')],
      [['apply', ...stdin], service({ ports: [{ port: 99999 }] })],
      [['apply', ...stdin], service({ ports: [{ port: 80, colour: 'red' }] })],
      [['apply', '--validate=false', ...stdin], service({ ports: [{ port: 80, colour: 'red' }] })],
      [['replace', ...stdin], service({ ports: [{ port: 8080 }] })],
      [words('delete service web')],
    ],
  },
  {
    name: 'other kinds',
    commands: [
      [['create', ...stdin], node],
      [words('get nodes')],
      [words('label node contract-node zone=b --overwrite')],
      [words('cordon contract-node')],
      [words('taint node contract-node a=b:NoSchedule')],
      [words('delete node contract-node')],
      [
        ['create', ...stdin],
        yaml({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { generateName: 'cm-' },
          data: { a: 'b' },
        }),
      ],
      [
        ['create', ...stdin],
        yaml({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } }),
      ],
      [words('get secrets')],
      [words('describe secret s')],
      [words('get secret s -o jsonpath={.data.a}')],
      [
        ['create', ...stdin],
        yaml({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p' },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        }),
      ],
      [words('get pods')],
      [words('get pods -o wide')],
      [words('get pods --field-selector=status.phase=Running')],
      [words('get pods --field-selector=spec.nonsense=Running')],
      [words('describe pod p')],
      [words('delete pod p --grace-period=0 --force')],
      [words('wait --for=delete pod/p --timeout=5s')],
      [words('get nonsense')],
      [words('get pods not-there')],
      [words('wait --for=condition=Ready pod/not-there --timeout=1s')],
      [words('get all')],
      [words('explain service.spec.ports --recursive')],
    ],
  },
];
