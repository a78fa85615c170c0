import { electedDeployment } from './elected-deployment.ts';
import { permissions } from './permissions.ts';
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
import { rolesOf, serviceAccount } from './rbac.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

const name = 'causeway-discovery';
const labels = labelsOf('discovery');
const observePort = 15_204;

export function discoveryObjects(site: Site): Manifest[] {
  const { namespace } = site;
  const subject = { name, namespace };
  return [
    serviceAccount(subject, 'discovery'),
    ...rolesOf('discovery', permissions.discovery, subject, site),
    electedDeployment('discovery', observePort, container, site),
    disruptionBudget(name, namespace, labels),
    ingressPolicy(name, namespace, labels, ['observe']),
  ];
}

function container(site: Site): Manifest {
  return {
    name: 'discovery',
    image: site.image,
    imagePullPolicy: 'IfNotPresent',
    args: ['discover', '--config', configFile('discovery')],
    env: [
      fromField('CAUSEWAY_LEADER_ELECTION_NAMESPACE', 'metadata.namespace'),
      // The name in its role; by default it is named after the backend.
      { name: 'CAUSEWAY_LEADER_ELECTION_NAME', value: name },
      fromField('CAUSEWAY_OBSERVE_ADDRESS', 'status.podIP'),
      { name: 'OS_CLIENT_CONFIG_FILE', value: `${secretsDirectory}/clouds.yaml` },
      ...site.items('discovery.env', [], 'further variables'),
    ],
    ports: [{ name: 'observe', containerPort: observePort }],
    ...probes({ port: 'observe', live: '/livez', ready: '/readyz' }),
    resources: site.block(
      'discovery.resources',
      { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
      'resources',
    ),
    securityContext: restrictedContainer,
    volumeMounts: mounts,
  };
}
