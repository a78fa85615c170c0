import type { GatewayWorld } from './gateway-world.ts';

type Candidate = ReturnType<GatewayWorld['startCandidate']>;
export type Later = (ms: number, act: () => void) => unknown;

const restartMs = 1_000;

/** Two controllers, each restarted by a service manager when it has ended. */
export class Pair {
  readonly #world: GatewayWorld;
  readonly #candidates: [Candidate, Candidate];

  constructor(world: GatewayWorld) {
    this.#world = world;
    this.#candidates = [world.startCandidate(), world.startCandidate()];
    this.#candidates.forEach((_, index) => this.#keep(index));
  }

  get processes() {
    return this.#candidates.map(({ process }) => process);
  }

  trouble(random: () => number, later: Later): void {
    const candidate = this.#candidates[random() < 0.5 ? 0 : 1];
    const { process } = candidate;
    const acts = [
      () => process.kill(),
      () => candidate.stop(),
      () => {
        process.pause();
        later(25_000, () => process.resume());
      },
      () => {
        process.suspend();
        later(60_000, () => process.resume());
      },
      () => {},
    ];
    acts[Math.floor(random() * acts.length)]?.();
  }

  recover(): void {
    for (const { process } of this.#candidates) if (process.isPaused) process.resume();
  }

  #keep(index: number): void {
    this.#candidates[index]?.process.ended.addEventListener('abort', () => {
      this.#world.simulation.clock.timer(restartMs, () => {
        this.#candidates[index] = this.#world.startCandidate();
        this.#keep(index);
      });
    });
  }
}
