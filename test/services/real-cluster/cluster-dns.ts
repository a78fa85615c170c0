import { dnsImage } from './basic-images.ts';
import { dnsAddress } from './layout.ts';

const namespace = 'kube-system';
const labels = { 'k8s-app': 'kube-dns' };
const corefile = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        ttl 5
    }
    reload
}
`;

/** CoreDNS, with its permissions. */
export const clusterDns: readonly object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'coredns', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace }],
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'coredns', namespace },
    data: { Corefile: corefile },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'coredns', namespace, labels },
    spec: { selector: { matchLabels: labels }, template: podTemplate() },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace, labels },
    spec: {
      clusterIP: dnsAddress,
      selector: labels,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  },
];

function podTemplate(): object {
  return {
    metadata: { labels },
    spec: {
      serviceAccountName: 'coredns',
      priorityClassName: 'system-cluster-critical',
      dnsPolicy: 'Default',
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'coredns',
          image: dnsImage,
          args: ['-conf', '/etc/coredns/Corefile'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
          },
          ports: [
            { containerPort: 53, name: 'dns', protocol: 'UDP' },
            { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
          ],
          readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
          volumeMounts: [{ name: 'settings', mountPath: '/etc/coredns', readOnly: true }],
        },
      ],
      volumes: [{ name: 'settings', configMap: { name: 'coredns' } }],
    },
  };
}
