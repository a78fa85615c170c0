// A real cluster to play with: three nodes, two gateways, Causeway installed. Ends with Ctrl-C.
//
//   npm run cluster

import { ensureProductImage } from '../test/services/image/product-image.ts';
import { ensureProgram } from '../test/services/programs.ts';
import { Gateways, servedAddresses } from '../test/services/real-cluster/gateways.ts';
import { dashboardToken, Installation } from '../test/services/real-cluster/installation.ts';
import { RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { openWayIn } from '../test/services/real-cluster/way-in.ts';

const { archive } = await ensureProductImage();
console.log('Starting three nodes...');
const cluster = await RealCluster.start({ kubeProxy: false, images: [archive] });
const told = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
try {
  const gateways = await Gateways.start(cluster);
  console.log('Installing Causeway...');
  await Installation.install(cluster, gateways);
  const { kubeconfig } = await openWayIn(cluster);
  const kubectl = await ensureProgram('kubectl');
  console.log(`
  export KUBECONFIG=${kubeconfig} PATH=$PATH:${kubectl.replace(/\/kubectl$/, '')}
  kubectl get pods -A -o wide
  kubectl create deployment web --image causeway.test/workload:1 -- /workload serve
  kubectl expose deployment web --type LoadBalancer --port 80 --target-port 8080
  nsenter -t ${gateways.client.pid} -n curl http://ADDRESS/        # from outside; addresses are of ${servedAddresses}

  The dashboard: kubectl -n causeway-system port-forward deployment/causeway-controller 15206
  then http://127.0.0.1:15206/?token=${dashboardToken}

Ctrl-C ends all of it, without a trace.`);
  await told;
} finally {
  await cluster.stop();
}
process.exit(0);
