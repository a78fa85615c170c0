import type { FrontendKey } from '../../protocol/frontend.ts';
import type { Reason, ReasonKind } from './reason-queue.ts';

/** The work of the gateway controller beside the reconciles. */
export type Action =
  /** Updates what follows from the gateways' answers: metrics, removals to forget and to verify. */
  | 'refresh-fleet'
  /** Sends the desired state to the gateways that are behind. */
  | 'send-updates'
  /** Computes the unhealthy backends from all gateways' probes, and sends them. */
  | 'agree-on-health'
  /** Puts the nodes' addresses into the desired state. */
  | 'update-nodes'
  | 'tend-fences'
  | 'clean-ports'
  /** Reports addresses in use that are in no list. */
  | 'report-addresses'
  /** Writes the state of the gateways, where `causeway status` reads it. */
  | 'publish-gateways'
  /** Reconciles the Services whose wait for gateways is over. */
  | 'end-waits'
  /** Reconciles the Services that want an address of another Service. */
  | 'retry-refused';

/** What to do, and for which objects. */
export interface Work {
  readonly actions: ReadonlySet<Action>;
  /** Gateways with a new status, or without one. */
  readonly gateways: ReadonlySet<string>;
  /** Frontends that a gateway starts or stops rejecting, and those whose failover safety has changed. */
  readonly rejections: ReadonlySet<FrontendKey>;
  /** Frontends that an operator allowed a gateway to remove. */
  readonly allowedRemovals: ReadonlySet<FrontendKey>;
  /** The UIDs of Services to reconcile. */
  readonly owners: ReadonlySet<string>;
  /** Services to reconcile, as `namespace/name`. */
  readonly services: ReadonlySet<string>;
  /** Namespaces with changed network policies or pods. */
  readonly namespaces: ReadonlySet<string>;
}

const afterAnswer: readonly Action[] = [
  'refresh-fleet',
  'tend-fences',
  'clean-ports',
  'publish-gateways',
  'end-waits',
];

const actionsAfter: Readonly<Record<ReasonKind, readonly Action[]>> = {
  'gateway-answered': afterAnswer,
  'removals-verified': afterAnswer,
  'fences-changed': afterAnswer,
  'gateway-status': ['agree-on-health', 'publish-gateways'],
  'generation-raised': ['send-updates'],
  'rejection-changed': [],
  'failover-safety-changed': ['publish-gateways'],
  'removal-allowed': [],
  'fence-requests-changed': ['tend-fences'],
  'address-blocked': ['tend-fences'],
  'address-freed': ['clean-ports', 'retry-refused', 'report-addresses'],
  'ports-changed': ['report-addresses'],
  'ports-compared': ['clean-ports', 'report-addresses'],
  'endpoints-changed': [],
  'nodes-changed': ['update-nodes'],
  'policies-changed': [],
};

/** Decides what follows from these reasons. Many reasons for the same work lead to it once. */
export function decideWork(reasons: Iterable<Reason>): Work {
  const work = {
    actions: new Set<Action>(),
    gateways: new Set<string>(),
    rejections: new Set<FrontendKey>(),
    allowedRemovals: new Set<FrontendKey>(),
    owners: new Set<string>(),
    services: new Set<string>(),
    namespaces: new Set<string>(),
  };
  for (const reason of reasons) {
    for (const action of actionsAfter[reason.kind]) work.actions.add(action);
    switch (reason.kind) {
      case 'gateway-status':
        work.gateways.add(reason.gateway);
        break;
      case 'rejection-changed':
      case 'failover-safety-changed':
        work.rejections.add(reason.frontend);
        break;
      case 'removal-allowed':
        work.allowedRemovals.add(reason.frontend);
        break;
      case 'ports-changed':
        work.owners.add(reason.owner);
        break;
      case 'endpoints-changed':
        work.services.add(reason.service);
        break;
      case 'policies-changed':
        work.namespaces.add(reason.namespace);
        break;
      case 'gateway-answered':
      case 'generation-raised':
      case 'removals-verified':
      case 'fences-changed':
      case 'fence-requests-changed':
      case 'address-blocked':
      case 'address-freed':
      case 'ports-compared':
      case 'nodes-changed':
        break;
    }
  }
  return work;
}
