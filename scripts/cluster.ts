// A real cluster to try out: three nodes, two gateways, Causeway installed. Ends with Ctrl-C.
//
// npm run cluster

import { stopSignal } from '../packages/causeway/src/cli/terminal/stop-signal.ts';
import { ensureProductImage } from '../test/services/image/product-image.ts';
import { orEnd } from '../test/services/missing.ts';
import { ensureProgram } from '../test/services/programs.ts';
import { Gateways, servedAddresses } from '../test/services/real-cluster/gateways.ts';
import { dashboardToken, Installation } from '../test/services/real-cluster/installation.ts';
import { prepareRealCluster, RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { openWayIn } from '../test/services/real-cluster/way-in.ts';
import { whenAborted } from '../packages/base/src/time/when-aborted.ts';

// Missing requirements are reported before minutes are spent on the image.
await orEnd(prepareRealCluster);
const { archive } = await orEnd(ensureProductImage);
await orEnd(() => ensureProgram('helm'));
// From here on there is something to clean up, even if it is stopped before it is up.
const stop = stopSignal();
const stopped = whenAborted(stop);
/** A terminal signals all processes at once: whatever is being started then ends too. */
const unlessStopped = (error: unknown) => {
  if (!stop.aborted) throw error;
};
console.log('Starting three nodes...');
const options = { kubeProxy: false, images: [archive] };
const cluster = await RealCluster.start(options).catch(unlessStopped);
if (cluster === undefined) process.exit(0);
try {
  const shown = showCluster(cluster).catch(unlessStopped);
  await Promise.race([stopped, shown.then(() => stopped)]);
} finally {
  console.log('Ending...');
  await cluster.stop();
}
process.exit(0);

async function showCluster(on: RealCluster): Promise<void> {
  const gateways = await Gateways.start(on);
  console.log('Installing Causeway...');
  await Installation.install(on, gateways);
  const { kubeconfig } = await openWayIn(on);
  const kubectl = await ensureProgram('kubectl');
  console.log(`
  export KUBECONFIG=${kubeconfig} PATH=$PATH:${kubectl.replace(/\/kubectl$/, '')}
  kubectl get pods -A -o wide
  kubectl create deployment web --image causeway.test/workload:1 -- /workload serve
  kubectl expose deployment web --type LoadBalancer --port 80 --target-port 8080
  nsenter -t ${gateways.client.pid} -n curl http://ADDRESS/        # from outside; addresses are of ${servedAddresses}

  The dashboard: kubectl -n causeway-system port-forward service/causeway-dashboard 15206:80
  then http://127.0.0.1:15206/?token=${dashboardToken}

Ctrl-C ends all of it, without a trace.`);
}
