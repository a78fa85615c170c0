import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpointSlices, leases, nodes, services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { fine, problem, skipped, warning, type Check, type Finding } from './check.ts';

const mostSkewMs = 5_000;

/** The checks of the cluster from this machine. */
export function clusterChecks(
  client: KubeClient | undefined,
  whyNot: string,
  clock: Clock,
): readonly Check[] {
  const within = (work: (client: KubeClient, signal: AbortSignal) => Promise<Finding>) =>
    async function run(signal: AbortSignal): Promise<Finding> {
      if (client === undefined) return skipped(whyNot);
      try {
        return await work(client, signal);
      } catch (error) {
        return describeFailure(error);
      }
    };
  const canList = <T extends KubeObject>(resource: Resource<T>): Check => ({
    name: `may list ${resource.plural}`,
    run: within(async (open, signal) => {
      let count = 0;
      for await (const { metadata } of open.list(resource, { signal, pageSize: 500 })) {
        if (metadata !== undefined) count += 1;
      }
      return fine(`${count}`);
    }),
  });
  return [
    canList(services),
    canList(endpointSlices),
    canList(nodes),
    {
      name: 'clock',
      run: within(async (open, signal) => checkClock(open, clock, signal)),
    },
  ];
}

/** Compares with the nodes' clocks: kubelets renew their leases every ten seconds. */
async function checkClock(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<Finding> {
  let newest = 0;
  for await (const lease of client.list(leases, { namespace: 'kube-node-lease', signal })) {
    newest = Math.max(newest, Date.parse(lease.spec?.renewTime ?? '') || 0);
  }
  if (newest === 0) return skipped('no node renews a lease, so the time of the nodes is unknown');
  const aheadMs = newest - clock.wallTime();
  if (aheadMs <= mostSkewMs) return fine('not behind the nodes');
  return warning(
    `${Math.round(aheadMs / 1000)} s behind the nodes`,
    'Run chrony or systemd-timesyncd here and on the nodes.',
  );
}

function describeFailure(thrown: unknown): Finding {
  const error = CausewayError.from(thrown);
  if (isErrorCode(error, 'forbidden') || isErrorCode(error, 'unauthorized')) {
    return problem(error.message, 'Give this user the read permissions of deploy/.');
  }
  const hint =
    error.hint ?? 'Check that the API server is running and that the kubeconfig is correct.';
  return problem(error.message, hint);
}
