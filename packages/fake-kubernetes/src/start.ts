import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { parsePrefix } from '@causeway/base/address/prefix';
import { type Clock, systemClock } from '@causeway/base/time/clock';
import { type Log, discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { type Random, systemRandom } from '@causeway/base/simulation/random';
import { type Authority, createAuthority, type KeyPair } from './certificates/authority.ts';
import { bootstrap } from './bootstrap.ts';
import { serveCustomResources } from './cluster/custom-resources.ts';
import { EmbeddedCluster } from './cluster/embedded-cluster.ts';
import type { ClusterApi } from './cluster-api.ts';
import { startControllers, type ControllersOptions } from './controllers/start-controllers.ts';
import { ApiServer } from './http/api-server.ts';
import type { FaultHook } from './http/faults.ts';
import { builtInResources } from './resources/built-in-resources.ts';
import type { ServiceNetwork } from './resources/service/service-allocations.ts';
import { ObjectStore, type StoreOptions } from './store.ts';

export interface EmbeddedKubernetesOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly random?: Random;
  /** Default: the loopback address. */
  readonly host?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Ranges of cluster addresses and node ports of Services. */
  readonly network?: ServiceNetwork;
  readonly store?: StoreOptions;
  /** Interval of bookmarks in watches that request them. */
  readonly bookmarkEveryMs?: number;
  /** Runs the controllers of a live cluster: Deployments get pods, Services get endpoints. */
  readonly controllers?: ControllersOptions;
  /** Lets tests inject faults into requests; see Fault. */
  readonly fault?: FaultHook;
}

export interface EmbeddedKubernetes {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** Bearer token of an administrator. */
  readonly token: string;
  /** Certificate of the authority that signed the server's certificate, as PEM. */
  readonly ca: string;
  /** A client certificate of an administrator. */
  readonly adminCertificate: KeyPair;
  /** A kubeconfig for the administrator, as YAML. */
  readonly kubeconfig: string;
  /** The same API without HTTP, for code in this process. */
  readonly cluster: ClusterApi;
  /** Drops the history and ends every open watch with Expired, like a server after a compaction. */
  expireHistory(): void;
  /** Ends every open watch cleanly, like a server after the watch timeout. */
  endWatches(): void;
  /** Closes every connection immediately. */
  cutConnections(): void;
  /** Stops listening, closes all connections, and listens again on the same address with the same objects. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const defaultNetwork: ServiceNetwork = {
  clusterIpRanges: [parsePrefix('10.96.0.0/16'), parsePrefix('fd00:96::/112')],
  nodePorts: { first: 30_000, last: 32_767 },
};

const hourMs = 3_600_000;
const administrator = { name: 'admin', groups: ['system:masters'] };

/** Starts an HTTPS API server in this process. It contains only the initial objects of a cluster. */
export async function startEmbeddedKubernetes(
  options: EmbeddedKubernetesOptions = {},
): Promise<EmbeddedKubernetes> {
  const { clock = systemClock, network = defaultNetwork, host = '127.0.0.1' } = options;
  const store = new ObjectStore(options.store);
  const cluster = new EmbeddedCluster(clock, store);
  cluster.serve(builtInResources(store, network, options.random ?? systemRandom, clock));
  serveCustomResources(store, cluster.registry);
  const authority = createAuthority('causeway-sandbox', clock.wallTime());
  const token = randomBytes(24).toString('base64url');
  const newServer = serverFactory(options, cluster, authority, host, token);
  let server = newServer(options.port ?? 0);
  const address = await server.listen();
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const [firstRange] = network.clusterIpRanges;
  if (firstRange !== undefined) bootstrap(cluster, firstRange, port);
  const controllers = startControllers(
    { api: cluster, clock, log: options.log ?? discardLog, metrics: noMetrics },
    options.controllers,
  );
  const url = `https://${address}`;
  return {
    url,
    token,
    ca: authority.certificate,
    adminCertificate: authority.issue({
      commonName: administrator.name,
      organizations: administrator.groups,
    }),
    kubeconfig: kubeconfigFor(url, authority.certificate, token),
    cluster,
    expireHistory() {
      store.compact();
      server.endWatches('expired');
    },
    endWatches: () => server.endWatches('cleanly'),
    cutConnections: () => server.cutConnections(),
    async restart() {
      await server.stop();
      server = newServer(port);
      await server.listen();
    },
    async stop() {
      await controllers.stop();
      await server.stop();
    },
  };
}

function serverFactory(
  options: EmbeddedKubernetesOptions,
  cluster: EmbeddedCluster,
  authority: Authority,
  host: string,
  token: string,
): (port: number) => ApiServer {
  const serving = authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['localhost', 'kubernetes.default.svc', '127.0.0.1', '::1', host],
  });
  return (port) =>
    new ApiServer({
      cluster,
      clock: options.clock ?? systemClock,
      log: options.log ?? discardLog,
      host,
      port,
      certificate: serving.certificate,
      key: serving.key,
      clientAuthority: authority.certificate,
      tokens: new Map([[token, administrator]]),
      watchTimes: { bookmarkEveryMs: options.bookmarkEveryMs ?? 60_000, defaultTimeoutMs: hourMs },
      fault: options.fault ?? (() => undefined),
    });
}

function kubeconfigFor(server: string, ca: string, token: string): string {
  const name = 'causeway-sandbox';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name, context: { cluster: name, user: 'admin' } }],
    'current-context': name,
  });
}
