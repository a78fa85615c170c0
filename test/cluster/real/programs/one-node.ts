// Starts a cluster of one node, says where its files are, and stops it when told "stop".

import { RealCluster } from '../../../services/real-cluster/real-cluster.ts';

const cluster = await RealCluster.start({ nodes: 1 });
process.stdout.write(`${cluster.files.root}\n`);
for await (const chunk of process.stdin) {
  if (String(chunk).includes('stop')) break;
}
await cluster.stop();
process.exit(0);
