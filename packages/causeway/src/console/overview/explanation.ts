import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { forAge } from '../../health/age-text.ts';
import type { GatewayPath } from '../../health/gateway-health.ts';
import type { ClusterHealth, ServiceHealth } from '../../health/service-health.ts';
import { isProblem, type Cause, type HealthState } from '../../health/state.ts';
import { cleanupFinalizer } from '../../services/plan.ts';
import { readRecord } from '../../services/record.ts';
import type { EventRow, ServiceRow } from './rows.ts';

/** One link of the chain from the controller to the endpoints. */
export interface Step {
  readonly name: string;
  readonly state: 'done' | 'waiting' | 'failed' | 'skipped';
  readonly text: string;
}

export interface Explanation {
  readonly service: string;
  readonly state: HealthState;
  readonly isProblem: boolean;
  /** One sentence. */
  readonly summary: string;
  readonly steps: readonly Step[];
  /** The causes of the state, the most important one first. */
  readonly causes: readonly Cause[];
  /** The most recent Events, newest first. */
  readonly lately: readonly EventRow[];
  /** Recommended actions in the order of the causes; empty without a problem. */
  readonly advice: readonly string[];
}

export interface ExplainedService {
  readonly service: Service;
  readonly row: ServiceRow;
  readonly health: ServiceHealth;
  readonly cluster: ClusterHealth;
  readonly events: readonly EventRow[];
}

const shownEvents = 5;

/** Explains what a client of the Service gets: every link of the chain, the causes, and what to do. */
export function explainService(subject: ExplainedService): Explanation {
  const { row, health, cluster, events } = subject;
  const { causes, state } = health;
  const lately = [...events]
    .sort((left, right) => (left.at > right.at ? -1 : 1))
    .slice(0, shownEvents);
  const advice = causes.map(({ remedy }) => remedy).filter((text) => text !== '');
  return {
    service: row.key,
    state,
    isProblem: isProblem(health, cluster.facts.now),
    summary: summaryOf(row, health, cluster.facts.now),
    steps: stepsOf(subject),
    causes,
    lately,
    advice: [...new Set(advice)],
  };
}

function summaryOf({ key, addresses }: ServiceRow, { state, causes }: ServiceHealth, now: number) {
  const where = addresses.join(', ') || 'no address';
  const [cause] = causes;
  const why = cause?.message ?? '';
  const age = forAge(cause?.since, now);
  switch (state) {
    case 'serving':
      return `${key} is served on ${where}.`;
    case 'degraded':
      return `${key} is served on ${where}, and degraded${age}: ${why}`;
    case 'no-endpoints':
      return `${key} refuses connections to ${where}: ${why}`;
    case 'idle':
      return `${key} is idle${age}; the first connection to ${where} wakes it.`;
    case 'pending':
      return `${key} is pending${age}: ${why}`;
    case 'not-served':
      return `${key} is not served${age}: ${why}`;
    case 'unknown':
      return `Whether ${key} is served is not known${age}: ${why}`;
    case 'deleting':
      return `${key} is being deleted${age}: ${why}`;
    case 'internal':
      return `${key} is not of type LoadBalancer; inside the cluster it is reached on ${where}.`;
  }
}

function stepsOf(subject: ExplainedService): Step[] {
  const { row, health } = subject;
  if (health.state === 'internal') return [endpointStep(row)];
  return [
    ...controllerSteps(subject),
    providerStep(subject),
    finalizerStep(subject),
    addressStep(subject),
    ...gatewaySteps(health),
    endpointStep(row),
  ];
}

function controllerSteps({ cluster: { controller, facts } }: ExplainedService): Step[] {
  const { leader, cause } = controller;
  const name = 'controller';
  if (cause !== undefined) {
    const text = `${cause.message}${forAge(cause.since, facts.now)}`;
    return [{ name, state: 'failed', text }];
  }
  if (leader === undefined) return [{ name, state: 'skipped', text: 'not checked: no permission' }];
  return [{ name, state: 'done', text: `${leader} leads` }];
}

function providerStep({ service }: ExplainedService): Step {
  const record = readRecord(service);
  const name = 'taken over';
  switch (record.kind) {
    case 'record':
      return { name, state: 'done', text: `by the provider ${record.record.provider}` };
    case 'unreadable':
      return { name, state: 'failed', text: `its record can't be read: ${record.problem}` };
    case 'none':
      return { name, state: 'waiting', text: 'by no provider yet' };
  }
}

function finalizerStep({ service }: ExplainedService): Step {
  const isProtected = service.metadata?.finalizers?.includes(cleanupFinalizer) === true;
  return {
    name: 'protected',
    state: isProtected ? 'done' : 'waiting',
    text: isProtected
      ? 'a finalizer keeps it until its objects outside of the cluster are released'
      : 'no finalizer yet',
  };
}

function addressStep({ row, health: { causes, families } }: ExplainedService): Step {
  const name = 'address';
  if (families.length > 0) return { name, state: 'done', text: row.addresses.join(', ') };
  const own = causes.find(({ code }) => code === 'refused' || code === 'pending');
  const state = own?.code === 'pending' ? 'waiting' : 'failed';
  return { name, state, text: own?.message ?? 'none' };
}

const stepStates = { able: 'done', unable: 'failed', unknown: 'waiting' } as const;

/** One step for each gateway and address family that differs. */
function gatewaySteps({ families, causes }: ServiceHealth): Step[] {
  const late = causes.filter(({ code }) => code === 'unconfirmed');
  const steps = new Map<string, Step>();
  for (const { family, gateways } of families) {
    for (const path of gateways) {
      const text = describePath(path);
      const name = `gateway ${path.gateway}`;
      const key = `${name} ${text}`;
      const shown = path.ability === 'able' ? text : `${text} (IPv${family ?? 4})`;
      if (!steps.has(key)) steps.set(key, { name, state: stepStates[path.ability], text: shown });
    }
  }
  return [
    ...steps.values(),
    ...late.map(({ gateway = '', message }): Step => {
      return { name: `gateway ${gateway}`, state: 'failed', text: message };
    }),
  ];
}

function describePath({ role, cause }: GatewayPath): string {
  const shown = role === 'not-known' ? 'its role is not known' : role;
  return cause === undefined ? `${shown}, can serve` : `${shown}: ${cause.message}`;
}

function endpointStep({ endpoints, state }: ServiceRow): Step {
  const text = `${endpoints.ready} of ${endpoints.all} ready`;
  if (endpoints.ready > 0) return { name: 'endpoints', state: 'done', text };
  if (state === 'idle') return { name: 'endpoints', state: 'skipped', text: 'idle' };
  return { name: 'endpoints', state: 'failed', text };
}
