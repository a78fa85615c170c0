import { expect } from 'vitest';
import { waitFor } from '../../services/wait-for.ts';
import {
  startEmbeddedServer,
  startRealServer,
  type ServerUnderTest,
} from '../kubernetes-api/server-under-test.ts';

export interface LiveObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly [field: string]: unknown;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';

const groups: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
};

/** A cluster with running controllers and without nodes: tests simulate the kubelet. */
export class LiveCluster {
  readonly server: ServerUnderTest;

  constructor(server: ServerUnderTest) {
    this.server = server;
  }

  static async embedded(): Promise<LiveCluster> {
    return new LiveCluster(await startEmbeddedServer({ controllers: {} }));
  }

  static async real(): Promise<LiveCluster> {
    return new LiveCluster(await startRealServer({ controllerManager: true }));
  }

  /** A new namespace to work in. */
  async workspace(name: string): Promise<Workspace> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { status } = await this.server.call('POST', '/api/v1/namespaces', { body });
    expect(status).toBe(201);
    return new Workspace(this.server, name);
  }
}

export class Workspace {
  readonly server: ServerUnderTest;
  readonly namespace: string;

  constructor(server: ServerUnderTest, namespace: string) {
    this.server = server;
    this.namespace = namespace;
  }

  path(resource: string, rest = ''): string {
    const prefix = groups[resource] ?? '/api/v1';
    return `${prefix}/namespaces/${this.namespace}/${resource}${rest}`;
  }

  async create(resource: string, body: object): Promise<LiveObject> {
    const answer = await this.server.call('POST', this.path(resource), { body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as LiveObject;
  }

  async list(resource: string, selector = ''): Promise<LiveObject[]> {
    const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
    const { body } = await this.server.call('GET', this.path(resource, query));
    return [...(body as { items: LiveObject[] }).items];
  }

  async get(resource: string, name: string): Promise<LiveObject | undefined> {
    const answer = await this.server.call('GET', this.path(resource, `/${name}`));
    return answer.status === 404 ? undefined : (answer.body as LiveObject);
  }

  async patch(resource: string, name: string, body: object): Promise<LiveObject> {
    const answer = await this.server.call('PATCH', this.path(resource, `/${name}`), {
      body,
      contentType: merge,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body as LiveObject;
  }

  async delete(resource: string, name: string, options: object = {}): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
    const answer = await this.server.call('DELETE', this.path(resource, `/${name}`), { body });
    expect([200, 202]).toContain(answer.status);
  }

  /** Waits until the objects match; the message of the timeout contains the last ones. */
  async until(
    what: string,
    resource: string,
    isSo: (objects: LiveObject[]) => boolean,
  ): Promise<LiveObject[]> {
    let seen: LiveObject[] = [];
    await waitFor(what, async () => {
      seen = await this.list(resource);
      return isSo(seen);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; last seen: ${JSON.stringify(seen.map(brief))}`);
    });
    return seen;
  }

  async untilObject(
    what: string,
    resource: string,
    name: string,
    isSo: (object: LiveObject) => boolean,
  ): Promise<LiveObject> {
    const named = (objects: LiveObject[]) => objects.find(({ metadata }) => metadata.name === name);
    const objects = await this.until(what, resource, (all) => {
      const object = named(all);
      return object !== undefined && isSo(object);
    });
    return named(objects) ?? objects[0] ?? ({} as LiveObject);
  }

  /** Reports a running pod, like a kubelet. */
  async report(
    pod: LiveObject | undefined,
    ready: boolean,
    address: string | readonly string[],
  ): Promise<void> {
    const ips = [address].flat();
    const time = '2026-01-01T00:00:00Z';
    const status = ready ? 'True' : 'False';
    const answer = await this.server.call(
      'PATCH',
      this.path('pods', `/${pod?.metadata.name ?? ''}/status`),
      {
        body: {
          status: {
            phase: 'Running',
            podIP: ips[0],
            podIPs: ips.map((ip) => ({ ip })),
            conditions: [{ type: 'Ready', status, lastTransitionTime: time, lastProbeTime: null }],
          },
        },
        contentType: strategic,
      },
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }

  /** Simulates the kubelet until the condition holds: every new pod becomes ready. */
  async runPodsUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
    let count = 0;
    await waitFor(what, async () => {
      for (const pod of await this.list('pods')) {
        if (pod.status['phase'] !== 'Pending') continue;
        count += 1;
        await this.report(pod, true, `10.244.${Math.floor(count / 200)}.${(count % 200) + 1}`);
      }
      return isSo();
    });
  }
}

const brief = ({ metadata, spec, status }: LiveObject) => ({ name: metadata.name, spec, status });

const suffix = '[bcdfghjklmnpqrstvwxz2456789]';
const generated = new RegExp(`-${suffix}{6,10}(?:-${suffix}{5})?\\b|(?<=-)${suffix}{5}$`, 'g');

/** An object without everything that is random, time-dependent or from other clients. */
export function essence(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => essence(item));
    // Endpoints of a slice have no guaranteed order.
    const text = (item: unknown) => JSON.stringify(item);
    return key === 'endpoints' ? items.sort((a, b) => (text(a) < text(b) ? -1 : 1)) : items;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(
          ([name]) =>
            !['managedFields', 'resourceVersion', 'generation', 'observedGeneration'].includes(
              name,
            ),
        )
        .map(([name, field]) => [name, essence(field, name)]),
    );
  }
  if (typeof value !== 'string') return value;
  if (key === 'uid') return '<uid>';
  if (key === 'pod-template-hash' || key === 'controller-revision-hash') return '<hash>';
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return '<time>';
  return value.replaceAll(generated, '<generated>');
}
