import fs from 'node:fs/promises';
import path from 'node:path';
import { descendantsOf, endOrphans } from '../../services/process-tree.ts';
import type { Machine } from '../../services/real-cluster/machine.ts';
import type { RealCluster } from '../../services/real-cluster/real-cluster.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  outageFigures,
  readLines,
  type DownloadReport,
  type Line,
  type OutageFigures,
} from './outage-figures.ts';

const program = path.join(import.meta.dirname, 'programs', 'outside-client.ts');
/** A connection that began before an event has ended this long after it. */
const patienceMs = 2_000;
let count = 0;

/** An external client that connects continually, with running downloads. */
export class Traffic {
  readonly #process: ServiceProcess;
  readonly #log: string;

  private constructor(child: ServiceProcess, log: string) {
    this.#process = child;
    this.#log = log;
  }

  /** Returns when all downloads flow. */
  static async start(
    cluster: RealCluster,
    client: Machine,
    url: string,
    downloads: number,
  ): Promise<Traffic> {
    count += 1;
    const name = `traffic-${count}`;
    const child = client.start(name, process.execPath, [program, url, String(downloads)]);
    const traffic = new Traffic(child, cluster.files.log(name));
    await waitFor('all downloads to flow', async () => {
      const report = lastReport(await traffic.#lines());
      return report !== undefined && moving(report) === downloads;
    });
    return traffic;
  }

  /** Waits until a connection that begins now is answered. */
  async answered(): Promise<void> {
    const now = Date.now();
    await waitFor('an answer', async () =>
      (await this.#lines()).some(
        (line) => line.kind === 'answer' && line.at >= now && line.node !== undefined,
      ),
    );
  }

  /**
   * Effect of an event: when everything that began by now has ended, and each download is either broken or
   * continues, except those from nodes without power.
   */
  async figures(eventAt: number, without: readonly string[] = []): Promise<OutageFigures> {
    const now = Date.now();
    const lines = await waitFor('the last connections to end', async () => {
      const all = await this.#lines();
      const hasEnded = all.some((line) => line.kind === 'answer' && line.at > now + patienceMs);
      return hasEnded && isSettled(lastReport(all), now, without) ? all : undefined;
    });
    return outageFigures(lines, eventAt);
  }

  /** Number of downloads from a node. */
  async from(node: string): Promise<number> {
    const counts = lastReport(await this.#lines())?.nodes[node];
    return counts === undefined ? 0 : counts.moving + counts.broken + counts.still;
  }

  async stop(): Promise<void> {
    await endOrphans(await descendantsOf(this.#process.pid));
    await this.#process.exited;
  }

  async #lines(): Promise<Line[]> {
    return readLines(await fs.readFile(this.#log, 'utf8'));
  }
}

function lastReport(lines: readonly Line[]): DownloadReport | undefined {
  return lines.findLast((line) => line.kind === 'downloads');
}

function moving({ nodes }: DownloadReport): number {
  return Object.values(nodes).reduce((total, each) => total + each.moving, 0);
}

function isSettled(
  report: DownloadReport | undefined,
  since: number,
  without: readonly string[],
): boolean {
  if (report === undefined || report.at <= since + patienceMs) return false;
  return Object.entries(report.nodes).every(
    ([node, { still }]) => still === 0 || without.includes(node),
  );
}
