import { electedDeployment } from './elected-deployment.ts';
import { permissions, type Part } from './permissions.ts';
import {
  configFile,
  disruptionBudget,
  fromField,
  ingressPolicy,
  mounts,
  probes,
  restrictedContainer,
  secretsDirectory,
} from './pods.ts';
import { rolesOf, serviceAccount, type Subject } from './rbac.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

const name = 'causeway-controller';
const labels = labelsOf('controller');
const observePort = 15_203;
const dashboardPort = 15_206;

const subject = ({ namespace }: Site): Subject => ({ name, namespace });

/** Parts of the controller's process that are turned on one by one, each with its permissions. */
export const controllerParts = [
  'gateway',
  'octavia',
  'pool',
  'idling',
  'dashboard',
] as const satisfies readonly Part[];
export type ControllerPart = (typeof controllerParts)[number];

/** The variable that turns a part on. */
export const switchOf = (part: ControllerPart): string => `CAUSEWAY_${part.toUpperCase()}_ENABLED`;

/** The controller without any part turned on. */
export function controllerObjects(site: Site): Manifest[] {
  const { namespace } = site;
  return [
    serviceAccount(subject(site), 'controller'),
    ...rolesOf('controller', permissions.controller, subject(site), site),
    electedDeployment('controller', observePort, container, site),
    disruptionBudget(name, namespace, labels),
    ingressPolicy(name, namespace, labels, ['observe', 'dashboard']),
  ];
}

/** Objects of a part: its permissions, and for the dashboard its Service. */
export function partObjects(part: ControllerPart | 'gateway-pods', site: Site): Manifest[] {
  const roles = rolesOf(part, permissions[part], subject(site), site);
  return part === 'dashboard' ? [...roles, dashboardService(site)] : roles;
}

function container(site: Site): Manifest {
  return {
    name: 'controller',
    image: site.image,
    imagePullPolicy: 'IfNotPresent',
    args: ['controller', '--config', configFile('controller')],
    env: [
      ...controllerParts.map((part) => ({
        name: switchOf(part),
        value: site.text(`${part}.enabled`, false, partMeanings[part]),
      })),
      fromField('CAUSEWAY_LEADER_ELECTION_NAMESPACE', 'metadata.namespace'),
      { name: 'CAUSEWAY_IDLING_REPORT_NAMESPACE', value: site.reportsNamespace },
      fromField('CAUSEWAY_OBSERVE_ADDRESS', 'status.podIP'),
      // The pod's address for its Service, and the loopback address for `kubectl port-forward`.
      { name: 'CAUSEWAY_DASHBOARD_ADDRESS', value: '*' },
      { name: 'CAUSEWAY_DASHBOARD_TOKEN_FILE', value: `${secretsDirectory}/dashboard.token` },
      { name: 'OS_CLIENT_CONFIG_FILE', value: `${secretsDirectory}/clouds.yaml` },
      ...site.items('controller.env', [], 'further variables'),
    ],
    ports: [
      { name: 'observe', containerPort: observePort },
      { name: 'dashboard', containerPort: dashboardPort },
    ],
    ...probes({ port: 'observe', live: '/livez', ready: '/readyz' }),
    resources: site.block(
      'controller.resources',
      { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
      'resources; 250 MB serve 10,000 Services',
    ),
    securityContext: restrictedContainer,
    volumeMounts: mounts,
  };
}

const partMeanings: Readonly<Record<ControllerPart, string>> = {
  gateway: 'serve Services on gateway nodes',
  octavia: 'serve Services with Octavia',
  pool: 'serve Services with addresses of a shared pool',
  idling: 'wake Services that sleep when a client connects (needs the proxy, too)',
  dashboard: 'serve the dashboard (needs one of the others, too)',
};

function dashboardService({ namespace }: Site): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'causeway-dashboard', namespace, labels },
    spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'dashboard' }] },
  };
}
