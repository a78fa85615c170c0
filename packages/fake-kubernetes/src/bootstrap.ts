import { addressFromInteger, addressToInteger } from '@causeway/base/address/address';
import { prefixFamily, type Prefix } from '@causeway/base/address/prefix';
import type { ClusterApi } from './cluster-api.ts';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const manager = 'kube-apiserver';

/** Creates the initial objects of every cluster: its namespaces and the Service of the API server. */
export function bootstrap(cluster: ClusterApi, clusterIpRange: Prefix, port: number): void {
  for (const name of namespaces) {
    cluster.create(
      'namespaces',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { fieldManager: manager },
    );
  }
  cluster.create(
    'services',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        clusterIP: firstAddress(clusterIpRange),
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
        type: 'ClusterIP',
      },
    },
    { fieldManager: manager },
  );
}

function firstAddress(range: Prefix): string {
  return addressFromInteger(addressToInteger(range.address) + 1n, prefixFamily(range));
}
