/** A new connection: its begin, its end and the pod that answered, if any. */
export interface Answer {
  readonly kind: 'answer';
  readonly at: number;
  readonly until: number;
  readonly node?: string | undefined;
  /** How it failed, if it did. */
  readonly failure?: string | undefined;
}

/** State of the downloads, by the node that they come from. */
export interface DownloadReport {
  readonly kind: 'downloads';
  readonly at: number;
  readonly nodes: Readonly<
    Record<string, { readonly moving: number; readonly broken: number; readonly still: number }>
  >;
}

export type Line = Answer | DownloadReport;

/** Effect of an event on an external client. */
export interface OutageFigures {
  /** The longest time in which no connection was answered. */
  readonly outageMs: number;
  readonly failed: number;
  /** Failures, each with its begin after the event: `ECONNREFUSED at 120`. */
  readonly failures: readonly string[];
  /** Begin of the last failed connection after the event; 0 if none failed. */
  readonly lastFailureMs: number;
  readonly downloads: {
    readonly of: number;
    readonly alive: number;
    /** Nodes with stopped downloads. */
    readonly lostFrom: readonly string[];
  };
}

/** Figures of an event at this time. The lines are in the order in which connections ended. */
export function outageFigures(lines: readonly Line[], eventAt: number): OutageFigures {
  const answers = lines.filter((line) => line.kind === 'answer');
  let outageMs = 0;
  let lastAt: number | undefined;
  for (const { until, node } of answers) {
    if (node === undefined) continue;
    if (lastAt !== undefined && until >= eventAt) outageMs = Math.max(outageMs, until - lastAt);
    lastAt = until;
  }
  const failures = answers.filter(({ at, node }) => at >= eventAt && node === undefined);
  const report = lines.findLast((line) => line.kind === 'downloads');
  const nodes = Object.entries(report?.nodes ?? {});
  const counts = nodes.map(([, count]) => count);
  return {
    outageMs,
    failed: failures.length,
    failures: failures.map(({ at, failure = 'failed' }) => `${failure} at ${at - eventAt}`),
    lastFailureMs: Math.max(0, ...failures.map(({ at }) => at - eventAt)),
    downloads: {
      of: sum(counts.map(({ moving, broken, still }) => moving + broken + still)),
      alive: sum(counts.map(({ moving }) => moving)),
      lostFrom: nodes.filter(([, { broken, still }]) => broken + still > 0).map(([name]) => name),
    },
  };
}

/** Printed lines; the last one may be incomplete. */
export function readLines(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
