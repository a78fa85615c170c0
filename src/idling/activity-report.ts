import { z } from 'zod';
import type { ConfigMap } from '../kube/core-objects.ts';

/** On the ConfigMap in which each node says how long its annotated Services have been quiet. */
export const activityLabel = 'causeway.dev/activity';
const dataKey = 'report.json';

export interface ActivityReport {
  readonly node: string;
  /** For each Service, how many seconds ago someone was last connected through this node. */
  readonly quietSeconds: ReadonlyMap<string, number>;
}

const written = z.object({
  node: z.string().min(1),
  /** Makes each report another one, so that it can be seen that the node still reports. */
  number: z.number().int(),
  quietSeconds: z.record(z.string(), z.number().min(0)),
});

export function formatReport(
  namespace: string,
  { node, quietSeconds }: ActivityReport,
  number: number,
): ConfigMap {
  const report = { node, number, quietSeconds: Object.fromEntries(quietSeconds) };
  return {
    metadata: { namespace, name: `causeway-activity-${node}`, labels: { [activityLabel]: 'node' } },
    data: { [dataKey]: JSON.stringify(report) },
  };
}

/** Undefined for what is no report: a node that can't be understood has not reported. */
export function parseReport(object: ConfigMap): ActivityReport | undefined {
  try {
    const parsed = written.safeParse(JSON.parse(object.data?.[dataKey] ?? ''));
    if (!parsed.success) return undefined;
    const { node, quietSeconds } = parsed.data;
    return { node, quietSeconds: new Map(Object.entries(quietSeconds)) };
  } catch {
    return undefined;
  }
}
