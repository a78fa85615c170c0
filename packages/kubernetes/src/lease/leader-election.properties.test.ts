import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { KubeClient } from '../client/client.ts';
import { runAsLeader } from './leader-election.ts';
import type { Leadership } from './leadership.ts';
import type { Transport } from '../client/transport.ts';

const candidates = 3;

/** What happens to one candidate, and for how long. */
const happening = fc.record({
  who: fc.nat(candidates - 1),
  what: fc.constantFrom('cut', 'lose answers', 'repair', 'stop', 'start'),
  thenMs: fc.nat(8_000),
});

class Candidate {
  readonly #api: FakeKubeApi;
  readonly #clock: SimulatedClock;
  readonly #seed: number;
  readonly leaderships: Leadership[] = [];
  link: 'whole' | 'cut' | 'loses answers' = 'whole';
  #stop: AbortController | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #lives = 0;

  constructor(api: FakeKubeApi, clock: SimulatedClock, seed: number) {
    this.#api = api;
    this.#clock = clock;
    this.#seed = seed;
  }

  start(): void {
    if (this.#stop !== undefined) return;
    const clock = this.#clock;
    const stop = new AbortController();
    this.#stop = stop;
    this.#lives += 1;
    const random = seededRandom(this.#seed + this.#lives);
    const client = new KubeClient({ transport: this.#transport(), clock, random });
    const lease = { namespace: 'n', name: 'lease' };
    const identity = `candidate-${this.#seed}-${this.#lives}`;
    this.#ended = runAsLeader(
      { client, lease, identity, clock, random, log: discardLog, metrics: noMetrics },
      (leadership, signal) => {
        this.leaderships.push(leadership);
        return whenAborted(signal);
      },
      stop.signal,
    ).catch(() => {
      // The work failed: a supervisor would restart the process.
      if (this.#stop === stop) this.#stop = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = undefined;
    await this.#ended;
  }

  get leads(): boolean {
    return this.leaderships.some((leadership) => leadership.isHeld);
  }

  #transport(): Transport {
    return {
      send: async (request, signal) => {
        if (this.link === 'cut') throw new Error('network is unreachable');
        const answer = await this.#api.send(request, signal);
        // The request has taken effect, but its answer is lost.
        if (this.link === 'loses answers' && request.method !== 'GET') throw new Error('reset');
        return answer;
      },
      close: () => Promise.resolve(),
    };
  }
}

describe('leader election, in any sequence of events', () => {
  it('never lets two write, and always finds a leader again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happenings) => {
        const api = new FakeKubeApi();
        const clock = new SimulatedClock();
        const all = Array.from(
          { length: candidates },
          (_, seed) => new Candidate(api, clock, seed * 100),
        );
        const atMostOne = () => {
          expect(all.filter(({ leads }) => leads).length).toBeLessThanOrEqual(1);
        };
        for (const each of all) each.start();
        for (const { who, what, thenMs } of happenings) {
          const candidate = all[who];
          if (what === 'cut') {
            api.cutWatches();
            if (candidate !== undefined) candidate.link = 'cut';
          } else if (what === 'lose answers' && candidate !== undefined) {
            candidate.link = 'loses answers';
          } else if (what === 'repair' && candidate !== undefined) candidate.link = 'whole';
          else if (what === 'start') candidate?.start();
          else if (what === 'stop') {
            const stopping = candidate?.stop();
            await clock.advance(4_000);
            await stopping;
          }
          for (let passed = 0; passed <= thenMs; passed += 500) {
            await clock.advance(500);
            atMostOne();
          }
        }
        for (const each of all) {
          each.link = 'whole';
          each.start();
        }
        await clock.advance(60_000);
        atMostOne();
        expect(all.some(({ leads }) => leads)).toBe(true);
        await Promise.all(all.map((each) => each.stop()));
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
