import type { Family } from '@causeway/base/address/address';
import type { EndpointFacts, ServiceFacts } from './facts.ts';
import type { Cause, Verdict } from './state.ts';

const none: EndpointFacts = { ready: 0, draining: 0, all: 0 };

/** What a connection gets that has reached the load balancer. Without a family, the best family counts. */
export function judgeEndpoints(service: ServiceFacts, family: Family | undefined): Verdict {
  const { idling, provider } = service;
  if (idling !== undefined) {
    const message = 'The Service is idle; the first connection wakes it.';
    const cause: Cause = { code: 'idle', message, since: idling.since, remedy: '' };
    return { state: 'idle', causes: [cause] };
  }
  const { ready, draining, all } = endpointsOf(service, family);
  const where = family === undefined ? '' : ` over IPv${family}`;
  if (ready === 0 && draining > 0) {
    const message = `No endpoint is ready${where}; ${draining} draining endpoints still serve.`;
    return { state: 'degraded', causes: [cause('endpoints-draining', message, service)] };
  }
  if (ready === 0) {
    const message =
      all === 0 ? `No endpoint exists${where}.` : `0 of ${all} endpoints are ready${where}.`;
    return { state: 'no-endpoints', causes: [cause('no-endpoints', message, service)] };
  }
  if (provider.kind !== 'none') return { state: 'serving', causes: [] };
  const message = 'Another controller set the address. Causeway does not check its load balancer.';
  const foreign: Cause = { code: 'foreign', message, since: undefined, remedy: '' };
  return { state: 'serving', causes: [foreign] };
}

function endpointsOf({ endpoints }: ServiceFacts, family: Family | undefined): EndpointFacts {
  if (family !== undefined) return endpoints.get(family) ?? none;
  const all = [...endpoints.values()];
  return all.reduce((best, each) => (each.ready > best.ready ? each : best), all[0] ?? none);
}

function cause(
  code: 'no-endpoints' | 'endpoints-draining',
  message: string,
  { key, selector }: ServiceFacts,
): Cause {
  const [namespace = ''] = key.split('/');
  const remedy =
    selector === ''
      ? 'The Service has no selector: write its EndpointSlices.'
      : `Find out why no pod is ready: \`kubectl get pods -n ${namespace} -l ${selector}\`.`;
  return { code, message, since: undefined, remedy };
}
