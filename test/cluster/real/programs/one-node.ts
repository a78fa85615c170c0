// Starts a cluster of one node, prints the directory of its files, and stops it on "stop".

import { RealCluster } from '../../../services/real-cluster/real-cluster.ts';

const cluster = await RealCluster.start({ nodes: 1 });
process.stdout.write(`${cluster.files.root}\n`);
for await (const chunk of process.stdin) {
  if (String(chunk).includes('stop')) break;
}
await cluster.stop();
process.exit(0);
