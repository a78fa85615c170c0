import path from 'node:path';
import { openForwarder, type Forwarder } from '../tcp-forwarder.ts';
import { issueCertificate } from '../certificates.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { RealCluster } from './real-cluster.ts';

/** A forwarder from this machine's loopback to the API server, and a kubeconfig for it. */
export async function openWayIn(
  cluster: RealCluster,
): Promise<{ kubeconfig: string; forwarder: Forwarder }> {
  const { files, controlPlane, authority } = cluster;
  const socket = path.join(files.root, 'api.sock');
  const program = path.join(import.meta.dirname, 'programs', 'inner-forwarder.ts');
  controlPlane.start('forwarder', process.execPath, [program, socket, '6443']);
  const forwarder = await openForwarder({ host: '127.0.0.1', port: 0 }, { path: socket });
  const user = await issueCertificate(
    ...([files.certificates, authority, 'outside', '/O=system:masters/CN=outside'] as const),
  );
  const kubeconfig = path.join(files.root, 'kubeconfig');
  await writeKubeconfig(kubeconfig, `https://127.0.0.1:${forwarder.port}`, authority, user);
  return { kubeconfig, forwarder };
}
