import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { cleanupFinalizer } from '../../services/plan.ts';
import { readRecord } from '../../services/record.ts';
import type { EventRow, ServiceRow } from './rows.ts';

/** One step of a Service towards being served. */
export interface Step {
  readonly name: string;
  readonly state: 'done' | 'waiting' | 'failed' | 'skipped';
  readonly text: string;
}

export interface Explanation {
  /** One sentence. */
  readonly summary: string;
  readonly steps: readonly Step[];
  /** The most recent Events, newest first. */
  readonly lately: readonly EventRow[];
  /** Recommended actions; empty without a problem. */
  readonly advice: readonly string[];
}

const shownEvents = 5;

/** Explains why a Service has no address: its current step, the most recent Events, and what to do. */
export function explainService(
  service: Service,
  row: ServiceRow,
  events: readonly EventRow[],
  /** The problem of all gateways together, if gateways are used and have one. */
  outage?: { readonly isCertain: boolean; readonly message: string },
): Explanation {
  const isAffected = outage !== undefined && row.provider === 'gateway';
  const steps = [
    ...stepsOf(service, row),
    ...(isAffected ? [{ name: 'gateways', state: 'failed', text: outage.message } as const] : []),
  ];
  const lately = [...events]
    .sort((left, right) => (left.at > right.at ? -1 : 1))
    .slice(0, shownEvents);
  const advice = adviceFor(service, row, steps);
  if (isAffected) advice.push('`causeway status` names the problem of each gateway.');
  const verb = outage?.isCertain === false ? 'may get' : 'gets';
  const summary = isAffected ? `${row.key} ${verb} no answer: ${outage.message}.` : summaryOf(row);
  return { summary, steps, lately, advice };
}

function summaryOf({ key, state, addresses, message, idledAt }: ServiceRow): string {
  const where = addresses.join(', ') || 'no address';
  switch (state) {
    case 'serving':
      return `${key} is served on ${where}.`;
    case 'pending':
      return `${key} is pending: ${message}`;
    case 'failed':
      return `${key} can't be served: ${message}`;
    case 'idle':
      return `${key} has been idle since ${idledAt}; the first connection to ${where} wakes it.`;
    case 'internal':
      return `${key} is not of type LoadBalancer; inside the cluster it is reached on ${where}.`;
    case 'unmatched':
      return `No provider serves ${key}: ${message}`;
    case 'deleting':
      return `${key} is being deleted: ${message}`;
  }
}

function stepsOf(service: Service, row: ServiceRow): Step[] {
  if (row.state === 'internal') return [endpointStep(row)];
  const record = readRecord(service);
  const isTaken = record.kind === 'record';
  const provider = isTaken ? record.record.provider : undefined;
  const hasFinalizer = service.metadata?.finalizers?.includes(cleanupFinalizer) === true;
  const isServed = row.state === 'serving' || row.state === 'idle';
  return [
    {
      name: 'taken over',
      state: isTaken ? 'done' : record.kind === 'unreadable' ? 'failed' : 'waiting',
      text:
        record.kind === 'unreadable'
          ? `its record can't be read: ${record.problem}`
          : `by ${provider === undefined ? 'no provider yet' : `the provider ${provider}`}`,
    },
    {
      name: 'protected',
      state: hasFinalizer ? 'done' : 'waiting',
      text: hasFinalizer
        ? 'a finalizer keeps it until its objects outside of the cluster are released'
        : 'no finalizer yet',
    },
    {
      name: 'address',
      state: row.addresses.length > 0 && isServed ? 'done' : stateOfRow(row),
      text: isServed ? row.addresses.join(', ') : row.message || 'none yet',
    },
    endpointStep(row),
  ];
}

function stateOfRow({ state }: ServiceRow): Step['state'] {
  return state === 'failed' || state === 'unmatched' ? 'failed' : 'waiting';
}

function endpointStep({ endpoints, state }: ServiceRow): Step {
  const text = `${endpoints.ready} of ${endpoints.all} ready`;
  if (endpoints.ready > 0) return { name: 'endpoints', state: 'done', text };
  if (state === 'idle') return { name: 'endpoints', state: 'skipped', text: 'idle' };
  return { name: 'endpoints', state: 'failed', text };
}

function adviceFor(service: Service, row: ServiceRow, steps: readonly Step[]): string[] {
  const advice: string[] = [];
  const [namespace = '', name = ''] = row.key.split('/');
  if (row.state === 'unmatched') {
    advice.push(
      service.spec?.loadBalancerClass === undefined
        ? 'Set spec.loadBalancerClass (causeway.dev/gateway, causeway.dev/octavia or causeway.dev/pool), or defaultProvider in the controller’s settings.'
        : "Check that the controller is running with that provider enabled. The controller's log names the enabled providers.",
    );
  }
  if (row.state === 'failed') {
    advice.push(
      `Fix the problem in the message; \`kubectl describe service -n ${namespace} ${name}\` shows all details.`,
    );
  }
  if (row.state === 'pending') {
    advice.push(
      'It continues automatically. Otherwise check `causeway gateways list` and the controller’s log.',
    );
  }
  if (row.state === 'deleting') {
    advice.push(
      'The finalizer is removed when nothing is left outside. Do not remove it manually: that leaks addresses.',
    );
  }
  if (steps.some((step) => step.name === 'endpoints' && step.state === 'failed')) {
    const selector = Object.entries(service.spec?.selector ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    advice.push(
      selector === ''
        ? 'It has no selector: write its EndpointSlices manually.'
        : `No pod is ready: \`kubectl get pods -n ${namespace} -l ${selector}\`.`,
    );
  }
  return advice;
}
