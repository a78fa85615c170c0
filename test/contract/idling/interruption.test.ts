import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  annotationsOf,
  hasIdledAt,
  previousMinReplicas,
  previousScale,
  unidleTargets,
} from '../../../packages/causeway/src/idling/annotations.ts';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { wakeNow } from '../../../packages/causeway/src/idling/wake-now.ts';
import { Waker } from '../../../packages/causeway/src/idling/waker.ts';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import {
  resolveKubeconfig,
  loadKubeconfig,
} from '../../../packages/kubernetes/src/credentials/kubeconfig.ts';
import {
  deployments,
  endpoints,
  endpointSlices,
  horizontalPodAutoscalers,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import type { Fault } from '../../../packages/fake-kubernetes/src/http/faults.ts';
import { startEmbeddedServer, type ServerUnderTest } from '../kubernetes-api/server-under-test.ts';
import { sleepyDeployment } from './objects.ts';

const { signal } = new AbortController();

/** Cuts the connection at the write with this number, counted from when it is armed. */
const trap = { writesUntil: Number.POSITIVE_INFINITY, kind: 'drop-before' as Fault['kind'] };
const fault = ({ method }: { readonly method: string }): Fault | undefined => {
  if (method === 'GET') return undefined;
  trap.writesUntil -= 1;
  return trap.writesUntil === -1 ? ({ kind: trap.kind } as Fault) : undefined;
};

describe('interrupted at any write', () => {
  let server: ServerUnderTest;
  let client: KubeClient;
  let count = 0;
  beforeAll(async () => {
    server = await startEmbeddedServer({ fault });
    const config = await loadKubeconfig([server.kubeconfig]);
    const connection = resolveKubeconfig(config, {
      context: undefined,
      env: {},
      clock: systemClock,
    });
    client = new KubeClient({
      transport: new HttpTransport(connection, systemClock),
      clock: systemClock,
    });
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  /** A Service with everything that idling changes, and a ready endpoint. */
  async function create() {
    count += 1;
    const where = { namespace: 'default', name: `web-${count}` };
    const { name } = where;
    await client.create(services, {
      metadata: where,
      spec: { selector: { app: name }, ports: [{ port: 80 }] },
    });
    await client.create(endpoints, { metadata: where });
    await client.create(deployments, {
      ...(sleepyDeployment(name, 3) as object),
      metadata: where,
    });
    await client.create(horizontalPodAutoscalers, {
      metadata: where,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: 2,
        maxReplicas: 5,
      },
    });
    await client.create(endpointSlices, {
      metadata: { ...where, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
      ports: [{ port: 8080 }],
    });
    return where;
  }

  async function stateOf(where: { namespace: string; name: string }) {
    const [service, current, deployment, autoscaler] = await Promise.all([
      client.get(services, where),
      client.get(endpoints, where),
      client.get(deployments, where),
      client.get(horizontalPodAutoscalers, where),
    ]);
    return {
      isMarked: hasIdledAt(service),
      areEndpointsMarked: hasIdledAt(current),
      targets: annotationsOf(service)[unidleTargets],
      replicas: deployment.spec?.replicas,
      previous: annotationsOf(deployment)[previousScale],
      bound: annotationsOf(autoscaler)[previousMinReplicas],
      minReplicas: autoscaler.spec?.minReplicas,
    };
  }

  const idler = () =>
    new Idler({ client, discovery: new ScaleDiscovery(client), clock: systemClock });
  const idle = (where: { namespace: string; name: string }) => idler().idle(where, signal);
  const wake = (where: { namespace: string; name: string }) => {
    const waker = new Waker({ client, discovery: new ScaleDiscovery(client) });
    const options = { client, waker, clock: systemClock, timeoutMs: 300_000 };
    return wakeNow(options, where, signal);
  };

  const awake = {
    isMarked: false,
    areEndpointsMarked: false,
    targets: undefined,
    replicas: 3,
    previous: undefined,
    bound: undefined,
    minReplicas: 2,
  };

  it.each([
    ['idle', 'drop-before'],
    ['idle', 'drop-after'],
    ['wake', 'drop-before'],
    ['wake', 'drop-after'],
  ] as const)(
    '%s with %s is finished by the next attempt, and a Service without pods always has its mark',
    async (verb, kind) => {
      let cuts = 0;
      for (let at = 0; ; at += 1) {
        const where = await create();
        if (verb === 'wake') await idle(where);
        const act = verb === 'idle' ? idle : wake;
        Object.assign(trap, { writesUntil: at, kind });
        const wasCut = await act(where).then(
          () => false,
          () => true,
        );
        trap.writesUntil = Number.POSITIVE_INFINITY;
        const between = await stateOf(where);
        // A Service without pods is marked, so that the next connection wakes it.
        if (between.replicas === 0) expect(between.isMarked).toBe(true);
        if (wasCut) {
          cuts += 1;
          await act(where);
        }
        const targets = `[{"kind":"Deployment","name":"${where.name}","group":"apps","replicas":3}]`;
        const asleep = { isMarked: true, areEndpointsMarked: true, targets, replicas: 0 };
        expect(await stateOf(where)).toEqual(
          verb === 'idle' ? { ...asleep, previous: '3', bound: '2', minReplicas: 2 } : awake,
        );
        if (!wasCut) break;
      }
      expect(cuts).toBe(5);
    },
  );
});
