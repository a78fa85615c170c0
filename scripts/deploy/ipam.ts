import {
  configFile,
  disruptionBudget,
  fromField,
  ingressPolicy,
  metricsAnnotations,
  mounts,
  probes,
  restrictedContainer,
  restrictedPodSpec,
  secretsDirectory,
  spread,
  volumes,
} from './pods.ts';
import { serviceAccount } from './rbac.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

const name = 'causeway-ipam';
const labels = labelsOf('ipam');
const apiPort = 8444;
const metricsPort = 9644;
const ledgerDirectory = '/var/lib/causeway';
const ledgerMounts = [...mounts, { name: 'ledger', mountPath: ledgerDirectory }];

/** The allocator does not use Kubernetes: its service account has no permissions and no token. */
export function ipamObjects(site: Site): Manifest[] {
  const { namespace } = site;
  return [
    serviceAccount({ name, namespace }, 'ipam'),
    service(namespace),
    statefulSet(site),
    disruptionBudget(name, namespace, labels),
    ingressPolicy(name, namespace, labels, ['api', 'observe']),
  ];
}

function service(namespace: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels },
    spec: { selector: labels, ports: [{ name: 'api', port: apiPort, targetPort: 'api' }] },
  };
}

function statefulSet(site: Site): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: site.namespace, labels },
    spec: {
      serviceName: name,
      replicas: site.value('ipam.replicas', 1, 'more than one only with a ledger in etcd'),
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: { ...metricsAnnotations(String(metricsPort)), ...site.rollOn('ipam') },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: false,
          ...restrictedPodSpec('ipam', site),
          topologySpreadConstraints: spread(labels),
          initContainers: [firstOperator(site)],
          containers: [container(site)],
          volumes: volumes('ipam'),
        },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'ledger' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: {
              requests: { storage: site.value('ipam.storage', '1Gi', 'size of the ledger') },
            },
          },
        },
      ],
    },
  };
}

/** Settings may name a cloud, in every container that reads them. */
const cloudsFile = { name: 'OS_CLIENT_CONFIG_FILE', value: `${secretsDirectory}/clouds.yaml` };

/** Before the server, because only one process can open a ledger in SQLite. Does nothing the second time. */
function firstOperator(site: Site): Manifest {
  return {
    name: 'first-operator',
    image: site.image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      ...['ipam', 'init', '--once', '--config', configFile('ipam')],
      ...['--credential-file', `${ledgerDirectory}/operator.token`],
    ],
    env: [cloudsFile, ...site.items('ipam.env', [], 'further variables')],
    resources: limits(site),
    securityContext: restrictedContainer,
    volumeMounts: ledgerMounts,
  };
}

function container(site: Site): Manifest {
  return {
    name: 'ipam',
    image: site.image,
    imagePullPolicy: 'IfNotPresent',
    args: ['ipam', 'serve', '--config', configFile('ipam')],
    env: [
      fromField('CAUSEWAY_LISTEN_HOST', 'status.podIP'),
      fromField('CAUSEWAY_METRICS_HOST', 'status.podIP'),
      cloudsFile,
      ...site.items('ipam.env', [], 'further variables'),
    ],
    ports: [
      { name: 'api', containerPort: apiPort },
      { name: 'observe', containerPort: metricsPort },
    ],
    ...probes({ port: 'observe', live: '/livez', ready: '/readyz' }),
    resources: limits(site),
    securityContext: restrictedContainer,
    volumeMounts: ledgerMounts,
  };
}

const limits = (site: Site) =>
  site.block(
    'ipam.resources',
    { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
    'resources',
  );
