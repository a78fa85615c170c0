import { clusterHandlers } from './cluster-handlers.ts';
import type { Handlers } from './context.ts';
import { loadBalancerHandlers } from './load-balancer-handlers.ts';
import { operatorHandlers } from './operator-handlers.ts';

/** A handler for every operation. A missing handler is a compile error. */
export const handlers: Handlers = {
  ...operatorHandlers,
  ...clusterHandlers,
  ...loadBalancerHandlers,
};
