import type { Manifest, Site } from './site.ts';

/** An unprivileged user. The image runs as the same. */
const userId = 65_532;

/** Kubernetes' level restricted. */
const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: userId,
  runAsGroup: userId,
  fsGroup: userId,
  seccompProfile: { type: 'RuntimeDefault' },
};

export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export const fromField = (name: string, fieldPath: string) => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});

export interface Probes {
  readonly port: string;
  readonly live: string;
  readonly ready: string;
}

/**
 * A process that is up but stuck is ended after a minute; one that can't work gets no traffic at once. A slow
 * process on an overloaded node is neither: with the usual timeout of one second every Causeway process was
 * ended there, and restarting them caused even more load.
 */
export function probes({ port, live, ready }: Probes): Manifest {
  const alive = { httpGet: { path: live, port }, timeoutSeconds: 15 };
  return {
    livenessProbe: { ...alive, periodSeconds: 20, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: ready, port }, timeoutSeconds: 5, periodSeconds: 5 },
    startupProbe: { ...alive, periodSeconds: 2, failureThreshold: 60 },
  };
}

export const metricsAnnotations = (port: string) => ({
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': port,
  'prometheus.io/path': '/metrics',
});

/**
 * The ConfigMap with a job's settings. No other object may have this name: kustomize adds a hash to it, also
 * where a role names an object of another kind.
 */
export const settingsName = (job: string) => `causeway-${job}-settings`;

const configDirectory = '/etc/causeway';
export const secretsDirectory = `${configDirectory}/secrets`;
export const configFile = (job: string) => `${configDirectory}/config/${job}.yaml`;

export const mounts = [
  { name: 'config', mountPath: `${configDirectory}/config`, readOnly: true },
  { name: 'secrets', mountPath: secretsDirectory, readOnly: true },
  { name: 'tmp', mountPath: '/tmp' },
];

export const volumes = (job: string) => [
  { name: 'config', configMap: { name: settingsName(job) } },
  // Optional, because its content depends on the settings; the job reports what is missing.
  {
    name: 'secrets',
    secret: { secretName: `causeway-${job}`, optional: true, defaultMode: 0o440 },
  },
  { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
];

/**
 * Kubernetes would set variables such as CAUSEWAY_DASHBOARD_PORT for the Services of the namespace, which are
 * names of Causeway's settings.
 */
export const withoutServiceVariables = { enableServiceLinks: false };

/** Common to all pods of the control plane. */
export function restrictedPodSpec(job: string, site: Site): Manifest {
  return {
    ...withoutServiceVariables,
    securityContext: restrictedPod,
    priorityClassName: 'system-cluster-critical',
    terminationGracePeriodSeconds: 30,
    nodeSelector: site.block(`${job}.nodeSelector`, {}, 'nodes that it may run on'),
    tolerations: site.block(`${job}.tolerations`, [], 'tolerated taints'),
  };
}

/** Two replicas on one node are of no use. */
export const spread = (labels: Readonly<Record<string, string>>) => [
  {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels },
  },
];

export function disruptionBudget(
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace, labels },
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: labels },
      // A pod that is not ready protects nothing, and must not prevent the drain of a node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  };
}

/** Allows only ingress to these ports. Egress depends on the site: clouds, gateways, ledgers. */
export function ingressPolicy(
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  ports: readonly string[],
): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace, labels },
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress'],
      ingress: [{ ports: ports.map((port) => ({ port, protocol: 'TCP' })) }],
    },
  };
}
