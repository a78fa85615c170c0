import { z } from 'zod';
import type { ConfigMap, Node } from '@causeway/kubernetes/objects/core-objects';
import type { ObjectMeta } from '@causeway/kubernetes/objects/object';

/** Label of the ConfigMap in which each node reports the idle time of its annotated Services. */
export const activityLabel = 'causeway.dev/activity';
const dataKey = 'report.json';

export interface ActivityReport {
  readonly node: string;
  /** For each Service, the seconds since the last connection through this node. */
  readonly quietSeconds: ReadonlyMap<string, number>;
}

const written = z.object({
  node: z.string().min(1),
  /** Changes with each report, so that the controller sees that the node still reports. */
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

/** The garbage collector deletes the report together with its Node. */
function ownedBy(owner: Node | undefined): Pick<ObjectMeta, 'ownerReferences'> {
  const { name, uid } = owner?.metadata ?? {};
  if (name === undefined || uid === undefined) return {};
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
}

/** Returns undefined for an unreadable report. Such a node counts as not reporting. */
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
