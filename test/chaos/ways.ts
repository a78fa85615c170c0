import { parse, stringify } from 'yaml';
import { openEchoGate, type EchoGate } from './echo-gate.ts';
import { openGate, type Gate } from './gate.ts';
import type { Surroundings } from './surroundings.ts';

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { server: string } }[];
}

interface Clouds {
  readonly clouds: Readonly<Record<string, { auth: { auth_url: string } }>>;
}

/** Paths between processes, with gates for faults. */
export class Ways {
  /** By name: `controller-1 to kubernetes`. One path may have several gates. */
  readonly gates = new Map<string, Gate[]>();
  readonly echoes = new Map<string, EchoGate[]>();
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  async close(): Promise<void> {
    for (const gate of [...this.gates.values()].flat()) await gate.close();
    for (const echo of [...this.echoes.values()].flat()) await echo.close();
  }

  /** A kubeconfig that leads through a gate. */
  async kubeconfig(from: string): Promise<string> {
    const config = parse(this.#surroundings.kubeconfig) as Kubeconfig;
    for (const { cluster } of config.clusters) {
      const { hostname: host, port } = new URL(cluster.server);
      const gate = await openGate({ host, port: Number(port) });
      append(this.gates, `${from} to kubernetes`, gate);
      cluster.server = `https://127.0.0.1:${gate.port}`;
    }
    return stringify(config);
  }

  /** A clouds.yaml with only this account, which leads through gates. */
  async clouds(from: string, account: string): Promise<string> {
    const { cloudsYaml, networkUrl, loadBalancerUrl } = this.#surroundings;
    const entry = (parse(cloudsYaml) as Clouds).clouds[account];
    if (entry === undefined) throw new Error(`the cloud has no account ${account}`);
    const way = `${from} to openstack`;
    const authUrl = await this.http(way, entry.auth.auth_url);
    const diverted = {
      ...entry,
      auth: { ...entry.auth, auth_url: authUrl },
      identity_endpoint_override: authUrl,
      network_endpoint_override: await this.http(way, networkUrl),
      load_balancer_endpoint_override: await this.http(way, loadBalancerUrl),
    };
    return stringify({ clouds: { [account]: diverted } });
  }

  /** Another URL for a plain HTTP service, where requests may also be delivered twice. */
  async http(way: string, url: string): Promise<string> {
    const { origin, pathname } = new URL(url);
    const echo = await openEchoGate(origin);
    append(this.echoes, way, echo);
    const gate = await openGate({ host: '127.0.0.1', port: echo.port });
    append(this.gates, way, gate);
    return `http://127.0.0.1:${gate.port}${pathname === '/' ? '' : pathname}`;
  }

  /** A URL for a server on a Unix socket. */
  async socket(way: string, path: string): Promise<string> {
    const gate = await openGate({ path });
    append(this.gates, way, gate);
    return `http://127.0.0.1:${gate.port}`;
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}
