import { permissions } from './permissions.ts';
import {
  configFile,
  fromField,
  metricsAnnotations,
  probes,
  settingsName,
  withoutServiceVariables,
} from './pods.ts';
import { rolesOf, serviceAccount } from './rbac.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

const name = 'causeway-proxy';
const labels = labelsOf('proxy');
/** Beside kube-proxy, which has 10256 and 10249. */
const healthPort = ['proxy.healthPort', 10_356, 'port of /healthz; kube-proxy has 10256'] as const;
const metricsPort = [
  'proxy.metricsPort',
  10_349,
  'port of /metrics; kube-proxy has 10249',
] as const;
/** Mount of the node's own network settings: a container's /proc/sys is read-only. */
const settingsDirectory = '/host/proc/sys';

/**
 * NET_ADMIN is for nftables, conntrack, the TUN device and the network's settings. All other capabilities are
 * dropped.
 */
export const proxyCapabilities = ['NET_ADMIN'];

export function proxyObjects(site: Site): Manifest[] {
  const subject = { name, namespace: site.nodeNamespace };
  return [
    serviceAccount(subject, 'proxy'),
    ...rolesOf('proxy', permissions.proxy, subject, site),
    daemonSet(site),
  ];
}

function daemonSet(site: Site): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: site.nodeNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      // A restart is no outage: rules stay, and held connections are requested again.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: {
          labels,
          annotations: {
            ...metricsAnnotations(site.text(...metricsPort)),
            ...site.rollOn('proxy'),
          },
        },
        spec: {
          ...withoutServiceVariables,
          serviceAccountName: name,
          automountServiceAccountToken: true,
          hostNetwork: true,
          // Names of the egress firewall are resolved like on the node: the cluster's DNS may need the proxy.
          dnsPolicy: 'Default',
          priorityClassName: 'system-node-critical',
          terminationGracePeriodSeconds: 40,
          nodeSelector: site.block(
            'proxy.nodeSelector',
            { 'kubernetes.io/os': 'linux' },
            'nodes that it runs on',
          ),
          tolerations: [{ operator: 'Exists' }],
          securityContext: { runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container(site)],
          volumes: nodeVolumes,
        },
      },
    },
  };
}

const nodeVolumes = [
  { name: 'config', configMap: { name: settingsName('proxy') } },
  { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
  { name: 'settings', hostPath: { path: '/proc/sys/net', type: 'Directory' } },
  { name: 'tun', hostPath: { path: '/dev/net/tun', type: 'CharDevice' } },
];

function container(site: Site): Manifest {
  return {
    name: 'proxy',
    image: site.image,
    imagePullPolicy: 'IfNotPresent',
    args: ['proxy', '--config', configFile('proxy')],
    env: [
      fromField('CAUSEWAY_NODE_NAME', 'spec.nodeName'),
      { name: 'CAUSEWAY_IDLING_REPORT_NAMESPACE', value: site.reportsNamespace },
      { name: 'CAUSEWAY_SETTINGS_DIRECTORY', value: settingsDirectory },
      { name: 'CAUSEWAY_HEALTH_PORT', value: site.text(...healthPort) },
      fromField('CAUSEWAY_METRICS_ADDRESS', 'status.hostIP'),
      { name: 'CAUSEWAY_METRICS_PORT', value: site.text(...metricsPort) },
      ...site.items(
        'proxy.env',
        [],
        'additional variables; in place of kube-proxy, KUBERNETES_SERVICE_HOST and _PORT must lead to the API server itself',
      ),
    ],
    ports: [
      {
        name: 'health',
        containerPort: site.value(...healthPort),
        hostPort: site.value(...healthPort),
      },
      {
        name: 'metrics',
        containerPort: site.value(...metricsPort),
        hostPort: site.value(...metricsPort),
      },
    ],
    ...probes({ port: 'health', live: '/livez', ready: '/healthz' }),
    resources: site.block(
      'proxy.resources',
      { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
      'resources on each node',
    ),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: proxyCapabilities },
    },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/causeway/config', readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'settings', mountPath: `${settingsDirectory}/net` },
      { name: 'tun', mountPath: '/dev/net/tun' },
    ],
  };
}
