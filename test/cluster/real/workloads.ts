import { sandboxImage } from '../../services/real-cluster/node-configuration.ts';

/** A Deployment whose pods say who they are, where, and who asks; one on each node if they are as many. */
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
  // Without a request, a pod of the same node that is busy for a moment would leave it nothing.
  resources: { requests: { cpu: '100m' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  // Patient: a pod that does not answer for a moment on a busy machine is no fault of what is tested.
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

/** A pod that waits, to ask from. */
export const clientPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'client', image: sandboxImage }],
  },
});
