import type { Manifest, Site } from './site.ts';

/** Allowed pods in a namespace, as levels of Kubernetes' pod security admission. */
type PodSecurity = 'restricted' | 'privileged';

function namespace(name: string, level: PodSecurity): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        'app.kubernetes.io/name': 'causeway',
        'pod-security.kubernetes.io/enforce': level,
        'pod-security.kubernetes.io/warn': level,
      },
    },
  };
}

export const systemNamespace = (site: Site) => namespace(site.namespace, 'restricted');
/** No pods run here; nodes write their reports. */
export const reportsNamespace = (site: Site) => namespace(site.reportsNamespace, 'restricted');
/** The node's network and NET_ADMIN are more than the levels below allow. */
export const nodeNamespace = (site: Site) => namespace(site.nodeNamespace, 'privileged');
