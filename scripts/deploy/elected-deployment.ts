import { metricsAnnotations, restrictedPodSpec, spread, volumes } from './pods.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

/** A Deployment where one replica works, and the others wait to take over. */
export function electedDeployment(
  job: 'controller' | 'discovery',
  observePort: number,
  container: (site: Site) => Manifest,
  site: Site,
): Manifest {
  const name = `causeway-${job}`;
  const labels = labelsOf(job);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: site.namespace, labels },
    spec: {
      replicas: site.value(`${job}.replicas`, 2, 'one works, the others wait to take over'),
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: { ...metricsAnnotations(String(observePort)), ...site.rollOn(job) },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          ...restrictedPodSpec(job, site),
          topologySpreadConstraints: spread(labels),
          containers: [container(site)],
          volumes: volumes(job),
        },
      },
    },
  };
}
