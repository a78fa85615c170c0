import { done, type Outcome } from '@causeway/base/work/controller';
import type { Node } from '../resources/node.ts';
import { jsonEqual } from '../schema/json.ts';
import { ownKey, type ControllerSetting, type StoreController } from './store-controller.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/** Taints nodes that are not ready or unreachable, and removes the taint when they are ready. */
export function nodeController(setting: ControllerSetting): StoreController {
  return {
    name: 'node',
    watches: { nodes: ownKey },
    reconcile: (name) => reconcile(setting, name),
  };
}

function reconcile({ api }: ControllerSetting, name: string): Outcome {
  const node = api.store.get('nodes', undefined, name) as Node | undefined;
  if (node === undefined) return done;
  const taints = [
    ...(node.spec.taints ?? []).filter(({ key }) => key !== notReady && key !== unreachable),
    ...conditionTaint(node),
  ];
  if (jsonEqual(taints, node.spec.taints ?? [])) return done;
  const draft = structuredClone(node);
  if (taints.length === 0) delete draft.spec.taints;
  else draft.spec.taints = taints;
  api.update('nodes', draft);
  return done;
}

/** A node without conditions counts as ready. */
function conditionTaint({ status }: Node): { key: string; effect: string }[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'True') return [];
  return [{ key: ready.status === 'False' ? notReady : unreachable, effect: 'NoSchedule' }];
}
