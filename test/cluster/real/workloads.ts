import { sandboxImage } from '../../services/real-cluster/node-configuration.ts';

/**
 * A Deployment of pods that answer with their name, their node and the client; one on each node if there are
 * enough.
 */
export const webDeployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: name } },
          },
        ],
        containers: [webContainer],
      },
    },
  },
});

const webContainer = {
  name: 'web',
  image: sandboxImage,
  args: ['serve'],
  ports: [{ name: 'http', containerPort: 8080 }],
  env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
  // Without a request, a busy pod of the same node would leave it no CPU.
  resources: { requests: { cpu: '100m' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  // A high threshold: a busy machine may delay a pod for a moment.
  readinessProbe: {
    httpGet: { path: '/', port: 'http' },
    periodSeconds: 1,
    timeoutSeconds: 30,
    failureThreshold: 10,
  },
};

/** A Service for such a Deployment. */
export const webService = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});

/** A pod that waits, to connect from. */
export const clientPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'client', image: sandboxImage }],
  },
});
