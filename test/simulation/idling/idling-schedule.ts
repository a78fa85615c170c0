import { isDeepStrictEqual } from 'node:util';
import {
  annotationsOf,
  hasIdledAt,
  previousMinReplicas,
  previousScale,
} from '../../../packages/causeway/src/idling/annotations.ts';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { wakeNow } from '../../../packages/causeway/src/idling/wake-now.ts';
import { Waker } from '../../../packages/causeway/src/idling/waker.ts';
import { isErrorCode } from '../../../packages/base/src/error/causeway-error.ts';
import {
  deployments,
  endpoints,
  endpointSlices,
  horizontalPodAutoscalers,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { sleepyDeployment } from '../../contract/idling/objects.ts';
import { SimulatedWorld } from '../world.ts';

const where = { namespace: 'default', name: 'web' };
const replicas = 3;
const minReplicas = 2;

/** A Service with everything that idling changes, and users that idle and wake it. */
class IdlingWorld extends SimulatedWorld {
  readonly #end = new AbortController();

  async fill(): Promise<void> {
    const { user } = this;
    const slice = { ...where, labels: { 'kubernetes.io/service-name': 'web' } };
    const objects = [
      user.create(services, {
        metadata: where,
        spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
      }),
      user.create(endpoints, { metadata: where }),
      user.create(deployments, {
        ...(sleepyDeployment('web', replicas) as object),
        metadata: where,
      }),
      user.create(horizontalPodAutoscalers, {
        metadata: where,
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          minReplicas,
          maxReplicas: 5,
        },
      }),
      user.create(endpointSlices, {
        metadata: slice,
        addressType: 'IPv4',
        ports: [{ port: 8080 }],
        endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
      }),
    ];
    await this.complete(Promise.all(objects));
  }

  /** A user runs the command until it succeeds, fails or is killed. */
  begin(name: string, verb: 'idle' | 'wake'): { process: SimulatedProcess; isOver: () => boolean } {
    const process = this.simulation.process(name);
    let isOver = false;
    this.act(process, verb)
      .catch((error: unknown) => {
        // A conflict with another command is not a failure.
        if (!isErrorCode(error, 'conflict')) throw error;
      })
      .finally(() => (isOver = true));
    return { process, isOver: () => isOver || process.isKilled };
  }

  async act(process: SimulatedProcess, verb: 'idle' | 'wake'): Promise<void> {
    const client = this.kubeClient(process);
    const { signal } = this.#end;
    const discovery = new ScaleDiscovery(client);
    const { clock } = process;
    if (verb === 'idle') await new Idler({ client, discovery, clock }).idle(where, signal);
    else {
      const waker = new Waker({ client, discovery });
      await wakeNow({ client, waker, clock, timeoutMs: 300_000 }, where, signal);
    }
  }

  async state() {
    const [service, deployment, autoscaler] = await this.complete(
      Promise.all([
        this.user.get(services, where),
        this.user.get(deployments, where),
        this.user.get(horizontalPodAutoscalers, where),
      ]),
    );
    return {
      isMarked: hasIdledAt(service),
      replicas: deployment.spec?.replicas,
      minReplicas: autoscaler.spec?.minReplicas,
      marks: [
        annotationsOf(deployment)[previousScale],
        annotationsOf(autoscaler)[previousMinReplicas],
      ].filter((mark) => mark !== undefined),
    };
  }
}

/**
 * Three commands at once, one of which may be killed; then the Service is woken, and its state is the
 * original one.
 */
export async function runIdlingSchedule(seed: number): Promise<void> {
  const world = new IdlingWorld(seed, { hasteMs: 100 });
  const { random } = world.simulation;
  await world.fill();
  const verbs = ['idle', 'wake', random() < 0.5 ? 'idle' : 'wake'] as const;
  const actors = verbs.map((verb, index) => world.begin(`${verb} ${index}`, verb));
  const victim = random() < 0.6 ? actors[Math.floor(random() * actors.length)] : undefined;
  victim?.process.killAt(1 + Math.floor(random() * 14), random() < 0.5 ? 'before' : 'after');
  await world.simulation.runUntil(() => actors.every(({ isOver }) => isOver()));
  const between = await world.state();
  // A killed command leaves the mark, so that the next connection wakes it.
  if (between.replicas === 0 && !between.isMarked) throw new Error('it has no pods and no mark');
  const last = world.begin('last', 'wake');
  await world.simulation.runUntil(last.isOver);
  const woken = await world.state();
  const wanted = { isMarked: false, replicas, minReplicas, marks: [] };
  if (!isDeepStrictEqual(woken, wanted)) throw new Error(`woken, it is ${JSON.stringify(woken)}`);
}
