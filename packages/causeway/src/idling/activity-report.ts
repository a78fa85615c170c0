import { z } from 'zod';
import type { ConfigMap, Node } from '@causeway/kubernetes/objects/core-objects';
import type { ObjectMeta } from '@causeway/kubernetes/objects/object';

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
  owner?: Node,
): ConfigMap {
  const report = { node, number, quietSeconds: Object.fromEntries(quietSeconds) };
  return {
    metadata: {
      namespace,
      name: `causeway-activity-${node}`,
      labels: { [activityLabel]: 'node' },
      ...ownedBy(owner),
    },
    data: { [dataKey]: JSON.stringify(report) },
  };
}

/** The report goes with its Node. */
function ownedBy(owner: Node | undefined): Pick<ObjectMeta, 'ownerReferences'> {
  const { name, uid } = owner?.metadata ?? {};
  if (name === undefined || uid === undefined) return {};
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
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
