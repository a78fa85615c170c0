import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { MemberSpec } from '@causeway/openstack/load-balancing/specs';
import { isExcludedNode, isKeptNode, isReadyNode, nodeAddress } from '../services/nodes.ts';
import type { KlbPort, KlbSpec, KuryrLoadBalancer } from './kuryr-load-balancer.ts';

/**
 * The nodes that serve the Service by node ports. If no node is ready, the reports are more likely wrong than
 * all nodes down. Then all nodes stay members.
 */
export function servingNodes(
  { spec }: KuryrLoadBalancer,
  nodes: Iterable<Node>,
): { readonly nodes: readonly Node[]; readonly isNoneReady: boolean } {
  if (spec?.options?.member_mode !== 'NodePort') return { nodes: [], isNoneReady: false };
  const selector = spec.options.node_selector;
  const chosen = [...nodes].filter((node) => !isExcludedNode(node) && isSelected(node, selector));
  const ready = chosen.filter(isReadyNode);
  const isNoneReady = chosen.length > 0 && ready.every(isKeptNode);
  return { nodes: ready.length === 0 ? chosen : ready, isNoneReady };
}

/** The members of one port: pods from the slices, or nodes with their node port. Without duplicates. */
export function membersOf(
  klb: KuryrLoadBalancer,
  port: KlbPort,
  family: Family,
  nodes: readonly Node[],
): MemberSpec[] {
  const { options = {} } = klb.spec ?? {};
  const members =
    options.member_mode === 'NodePort'
      ? nodeMembers(port, family, nodes)
      : podMembers(klb, port, family);
  const common = {
    ...(options.member_subnet_id === undefined ? {} : { subnetId: options.member_subnet_id }),
    ...(options.health_monitor?.node_port === undefined
      ? {}
      : { monitorPort: parsePort(options.health_monitor.node_port) }),
  };
  const unique = new Map(members.map((member) => [`${member.address} ${member.port}`, member]));
  return [...unique.values()]
    .map((member) => ({ ...member, ...common }))
    .sort((left, right) => compare(left.address, right.address) || left.port - right.port);
}

function podMembers(klb: KuryrLoadBalancer, port: KlbPort, family: Family): MemberSpec[] {
  const { namespace = '', name = '' } = klb.metadata ?? {};
  const members: MemberSpec[] = [];
  for (const { endpoints = [], ports = [] } of klb.spec?.endpointSlices ?? []) {
    const target = ports.find(
      (candidate) =>
        (candidate.name ?? '') === (port.name ?? '') &&
        (candidate.protocol ?? 'TCP') === port.protocol,
    );
    if (target?.port === undefined) continue;
    for (const { addresses, conditions, targetRef } of endpoints) {
      const address = addressOf(addresses[0], family);
      if (address === undefined || conditions?.ready === false) continue;
      const owner = `${targetRef?.namespace ?? namespace}/${targetRef?.name ?? name}`;
      members.push({ address, port: parsePort(target.port), name: `${owner}:${target.port}` });
    }
  }
  return members;
}

function nodeMembers({ nodePort }: KlbPort, family: Family, nodes: readonly Node[]): MemberSpec[] {
  if (nodePort === undefined) return [];
  const members: MemberSpec[] = [];
  for (const node of nodes) {
    const address = nodeAddress(node, family);
    if (address === undefined) continue;
    members.push({
      address,
      port: parsePort(nodePort),
      name: `${node.metadata?.name}:${nodePort}`,
    });
  }
  return members;
}

/** OCCM's form: `key=value,key2=value2,key3`. */
function isSelected(node: Node, selector: string | undefined): boolean {
  const labels = node.metadata?.labels ?? {};
  return (selector ?? '').split(',').every((part) => {
    const [key = '', value] = part.split('=').map((side) => side.trim());
    if (key === '') return true;
    return value === undefined ? Object.hasOwn(labels, key) : labels[key] === value;
  });
}

function addressOf(text: string | undefined, family: Family): Address | undefined {
  const address = text === undefined ? undefined : tryParseAddress(text);
  return address !== undefined && familyOf(address) === family ? address : undefined;
}

/** The family of the VIP, which is also the family of the members. */
export function vipFamily(spec: KlbSpec, subnetFamily: Family | undefined): Family {
  const address = spec.ip === undefined ? undefined : tryParseAddress(spec.ip);
  return address === undefined ? (subnetFamily ?? 4) : familyOf(address);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
