/**
 * One alert: its condition, its meaning and its remedy. Rules, runbooks and their tests are generated from
 * it.
 */
export interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  readonly expression: string;
  /** How long the condition must hold. Default: it fires at once. */
  readonly for?: string;
  /** One line, with Prometheus' placeholders. */
  readonly summary: string;
  /** The effect on clients right now. */
  readonly meaning: string;
  /** What to check, in order. */
  readonly check: readonly string[];
  /** What to do, by result. */
  readonly remedy: readonly string[];
  /** Series that make it fire, sampled every minute, in promtool's notation: a test runs them. */
  readonly example: Readonly<Record<string, string>>;
  /** Time by which it has fired, and is still firing. */
  readonly firesAt: string;
}

/** The alerts of one job; a rules file and a section of the runbooks. */
export interface AlertGroup {
  /** Name of the file: `gateway.rules.yaml`. */
  readonly name: string;
  readonly title: string;
  readonly alerts: readonly Alert[];
}
