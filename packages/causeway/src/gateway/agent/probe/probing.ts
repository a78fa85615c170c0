import path from 'node:path';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Loop } from '@causeway/base/work/supervisor';
import type { AgentSettings } from '../settings.ts';
import { probeTcp } from './tcp-probe.ts';
import { keepProbeResultsFile, readKnownAnswers } from './probe-results-file.ts';
import { ProbeResults } from './probe-results.ts';
import { runProber } from './prober.ts';
import type { ProbeTargets } from './targets.ts';

export interface ProbingOptions {
  readonly clock: Clock;
  readonly log: Log;
  targets(): ProbeTargets;
  /** Called when the state of a backend or the cut-off state changes. */
  onChange(): void;
}

/** Probes backends and nodes, and keeps the results over restarts. */
export class Probing {
  readonly ledger: ProbeResults;
  readonly #file: string;
  readonly #intervalMs: number;

  private constructor(file: string, intervalMs: number, ledger: ProbeResults) {
    this.#file = file;
    this.#intervalMs = intervalMs;
    this.ledger = ledger;
  }

  static async open({ probe, stateDirectory }: AgentSettings, log: Log): Promise<Probing> {
    const file = path.join(stateDirectory, 'answers.json');
    const isOn = probe.intervalMs > 0;
    // Without probes, a stored unhealthy backend would never become healthy.
    const ledger = isOn
      ? new ProbeResults(probe, await readKnownAnswers(file, log))
      : new ProbeResults(probe);
    return new Probing(file, probe.intervalMs, ledger);
  }

  loops(options: ProbingOptions): Record<string, Loop> {
    const { clock, log } = options;
    const { ledger } = this;
    if (this.#intervalMs === 0) return {};
    return {
      probes: (signal) =>
        runProber(
          {
            clock,
            ledger,
            intervalMs: this.#intervalMs,
            targets: () => options.targets(),
            probeTcp: (target, limitMs, each) => probeTcp(clock, target, limitMs, each),
            onChange: () => options.onChange(),
          },
          signal,
        ),
      'probe results file': (signal) =>
        keepProbeResultsFile({ file: this.#file, ledger, clock, log }, signal),
    };
  }
}
