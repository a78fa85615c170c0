/** One alert: when it fires, what it means to whom, and what to do. Rules, runbooks and their tests come from it. */
export interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  readonly expression: string;
  /** How long it must be so. At once if left out. */
  readonly for?: string;
  /** One line, with Prometheus' placeholders. */
  readonly summary: string;
  /** What it means for clients right now. */
  readonly meaning: string;
  /** Where to look, in this order. */
  readonly check: readonly string[];
  /** What to do, by what was found. */
  readonly remedy: readonly string[];
  /** Series that make it fire, sampled every minute, in promtool's notation: a test plays them. */
  readonly example: Readonly<Record<string, string>>;
  /** When it has fired by, and is still firing. */
  readonly firesAt: string;
}

/** The alerts of one job; a rules file and a section of the runbooks. */
export interface AlertGroup {
  /** Of the file: `gateway.rules.yaml`. */
  readonly name: string;
  readonly title: string;
  readonly alerts: readonly Alert[];
}
