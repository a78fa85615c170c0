import fs from 'node:fs/promises';
import { issueCertificate } from '../services/certificates.ts';
import { namespace, type Installation } from '../services/real-cluster/installation.ts';
import type { RealCluster } from '../services/real-cluster/real-cluster.ts';

export const ledgerUrl = `https://causeway-ipam.${namespace}.svc:8444`;
/** Token that the allocator's pod created before it served for the first time. */
const operatorToken = '/var/lib/causeway/operator.token';

/**
 * What the allocator needs before its installation: a volume on a node's disk, and a certificate. Returns the
 * certificate of the authority.
 */
export async function prepareLedger(
  cluster: RealCluster,
  installation: Installation,
  furtherNames: readonly string[] = [],
): Promise<string> {
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error('a cluster has nodes');
  const path = '/var/lib/ledger';
  await node.machine.run('mkdir', '-p', path);
  const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'ledger' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
    },
  });
  const { certificate, key } = await issueCertificate(
    ...([cluster.files.certificates, cluster.authority, 'ipam', '/CN=causeway-ipam'] as const),
    [`DNS:causeway-ipam.${namespace}.svc`, ...furtherNames].join(),
  );
  const authority = await fs.readFile(cluster.authority.certificate, 'utf8');
  await installation.addSecret('causeway-ipam', {
    'tls.crt': await fs.readFile(certificate, 'utf8'),
    'tls.key': await fs.readFile(key, 'utf8'),
    'ca.crt': authority,
  });
  return authority;
}

export const ledgerSettings = {
  ledger: 'sqlite:/var/lib/causeway/ipam.db',
  tls: {
    certificateFile: '/etc/causeway/secrets/tls.crt',
    keyFile: '/etc/causeway/secrets/tls.key',
  },
};

/** The allocator of a cluster, used by an operator in its pod. */
export class Ledger {
  readonly #cluster: RealCluster;

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  /** Creates a site and a pool, once per ledger. */
  async begin(pool: { readonly site: string; readonly addresses: string }): Promise<void> {
    const times = ['--quarantine', '1s', '--unconfirmed-quarantine', '5s', '--keep-for', '1s'];
    await this.ipam('sites', 'set', pool.site, ...times);
    await this.ipam('pools', 'set', pool.site, 'public', '--addresses', pool.addresses);
  }

  /** Returns the credential of the new cluster. */
  async addCluster(site: string, name: string): Promise<string> {
    const file = `/var/lib/causeway/${name}.token`;
    await this.ipam('clusters', 'create', site, name, '--credential-file', file);
    return this.#inPod('cat', file);
  }

  /** Number of addresses of a site's only pool that are reserved. */
  async held(site: string): Promise<number> {
    const [pool] = JSON.parse(await this.ipam('pools', 'list', site, '-o', 'json')) as [
      { usage: { held: number } },
    ];
    return pool.usage.held;
  }

  ipam(...words: string[]): Promise<string> {
    const variables = [
      ...[`CAUSEWAY_SERVER=${ledgerUrl}`, `CAUSEWAY_TOKEN_FILE=${operatorToken}`],
      'CAUSEWAY_CA_FILE=/etc/causeway/secrets/ca.crt',
    ];
    return this.#inPod('env', ...variables, 'causeway', 'ipam', ...words);
  }

  #inPod(...words: string[]): Promise<string> {
    return this.#cluster.kubectl('-n', namespace, 'exec', 'causeway-ipam-0', '--', ...words);
  }
}
