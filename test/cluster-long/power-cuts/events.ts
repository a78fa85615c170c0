import type { ClusterNode } from '../../services/real-cluster/cluster-node.ts';
import type { Gateway } from '../../services/real-cluster/gateways.ts';
import type { OutageFigures } from './outage-figures.ts';
import type { PowerCutStage } from './stage.ts';

/** Cuts the power of the active gateway, until the other one is active. */
export async function cutActive(
  stage: PowerCutStage,
): Promise<{ gateway: Gateway; figures: OutageFigures }> {
  const gateway = await stage.active();
  const figures = await stage.notice(async () => {
    await gateway.cutPower();
    await stage.active();
  });
  return { gateway, figures };
}

export function bringBack(stage: PowerCutStage, gateway: Gateway): Promise<OutageFigures> {
  return stage.notice(async () => {
    await gateway.boot();
    await stage.asBefore();
  });
}

/** Restarts the agent of the active gateway. */
export async function restartAgent(stage: PowerCutStage): Promise<OutageFigures> {
  const active = await stage.active();
  return stage.notice(async () => {
    await active.restartAgent();
    await stage.asBefore();
  });
}

/** Cuts the power of the leading controller's node, until Kubernetes has noticed. */
export async function cutLeadingNode(
  stage: PowerCutStage,
): Promise<{ node: ClusterNode; figures: OutageFigures }> {
  const node = await stage.leadingNode();
  const names = stage.cluster.nodes.map(({ name }) => name);
  const others = names.filter((name) => name !== node.name);
  const act = async () => {
    await node.cutPower();
    await stage.readyOn(others);
  };
  return { node, figures: await stage.notice(act, [node.name]) };
}

export function bringNodeBack(stage: PowerCutStage, node: ClusterNode): Promise<OutageFigures> {
  return stage.notice(async () => {
    await stage.boot(node);
    await stage.asBefore();
  });
}
