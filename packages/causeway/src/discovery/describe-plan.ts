import { isDeepStrictEqual } from 'node:util';
import { withoutControls } from '@causeway/base/text/printable';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { resourceName } from '@causeway/kubernetes/objects/resource';
import { updatedObject } from './compare-objects.ts';
import type { LoadBalancerPlan, Write } from './plan-project.ts';

const signs = { create: '+', update: '~', replace: '±' } as const;

/** Describes a plan for a reader: a line for each object, and for changed ones a line for each field. */
export function describePlan(plan: LoadBalancerPlan): string {
  const lines: string[] = [];
  for (const write of plan.writes) {
    const { verb, resource, wanted } = write;
    const isService = resource.kind === 'Service';
    const note = isService ? `  load balancer ${JSON.stringify(plan.name)} (${plan.id})` : '';
    lines.push(`${signs[verb]} ${resourceName(resource)}/${keyOf(wanted)}${note}`);
    if (isService && verb !== 'update') lines.push(...describePorts(plan));
    lines.push(...describeChange(write));
  }
  for (const { resource, actual } of plan.removals) {
    lines.push(`- ${resourceName(resource)}/${keyOf(actual)}`);
  }
  for (const { severity, message } of plan.problems) {
    lines.push(`  ${severity === 'note' ? 'note:' : '!'} ${message}`);
  }
  return lines.map((line) => `${withoutControls(line)}\n`).join('');
}

function describePorts({ translation }: LoadBalancerPlan): string[] {
  return (translation?.ports ?? []).map(({ name, protocol, groups }) => {
    const all = groups.flatMap(({ endpoints }) => endpoints);
    const ready = all.filter(({ isReady }) => isReady).length;
    return `    port ${name}/${protocol}: ${all.length} endpoints, ${ready} ready`;
  });
}

function describeChange(write: Write): string[] {
  if (write.verb !== 'update') return [];
  const { resource, actual, wanted } = write;
  const before = fieldsOf(actual);
  const after = fieldsOf(updatedObject(resource, actual, wanted));
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (isDeepStrictEqual(old, now)) return [];
    const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
    return [`    ${path}: ${show(old)} -> ${show(now)}`];
  });
}

/** Every value by its path; entries of lists are identified by name or address instead of position. */
function fieldsOf(object: KubeObject): Map<string, unknown> {
  const { apiVersion: _, kind: _kind, ...content } = object;
  const fields = new Map<string, unknown>();
  const walk = (path: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) {
      fields.set(path, value);
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      const step = Array.isArray(value)
        ? `[${nameOf(child) ?? key}]`
        : `${path === '' ? '' : '.'}${key}`;
      walk(`${path}${step}`, child);
    }
  };
  walk('', content);
  return fields;
}

function nameOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { name, addresses, ip } = entry as { name?: string; addresses?: string[]; ip?: string };
  return name ?? addresses?.[0] ?? ip;
}
