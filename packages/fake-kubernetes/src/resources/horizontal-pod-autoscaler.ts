import { asObject, type JsonObject, type KubeObject } from '../object.ts';
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../schema/field-error.ts';
import { pathSegmentErrors } from '../schema/names.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';

interface MetricTarget {
  type?: string;
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

interface Metric extends JsonObject {
  type: string;
}

interface HorizontalPodAutoscaler extends KubeObject {
  spec: {
    minReplicas?: number;
    maxReplicas: number;
    scaleTargetRef: { apiVersion?: string; kind: string; name: string };
    metrics?: Metric[];
    behavior?: { scaleUp?: ScalingRules; scaleDown?: ScalingRules };
  };
  status?: {
    currentReplicas?: number;
    desiredReplicas: number;
    currentMetrics: Metric[] | null;
  };
}

interface ScalingRules {
  selectPolicy?: string;
  stabilizationWindowSeconds?: number;
  policies?: { type: string; value: number; periodSeconds: number }[];
}

export const horizontalPodAutoscalers = builtIn<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  statusSubresource: true,
  columns: [
    nameColumn,
    column<HorizontalPodAutoscaler>(
      'Reference',
      ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    ),
    column<HorizontalPodAutoscaler>('Targets', formatMetrics),
    column<HorizontalPodAutoscaler>('MinPods', ({ spec }) => String(spec.minReplicas ?? '<unset>')),
    column<HorizontalPodAutoscaler>('MaxPods', ({ spec }) => spec.maxReplicas),
    column<HorizontalPodAutoscaler>('Replicas', ({ status }) => status?.currentReplicas ?? 0),
    ageColumn,
  ],
  defaults(draft) {
    draft.spec ??= {} as HorizontalPodAutoscaler['spec'];
    const { spec } = draft;
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0) {
      const target = { averageUtilization: 80, type: 'Utilization' };
      spec.metrics = [{ resource: { name: 'cpu', target }, type: 'Resource' }];
    }
    if (spec.behavior === undefined) return;
    defaultRules(spec.behavior, 'scaleUp', [
      { periodSeconds: 15, type: 'Pods', value: 4 },
      { periodSeconds: 15, type: 'Percent', value: 100 },
    ]);
    defaultRules(spec.behavior, 'scaleDown', [{ periodSeconds: 15, type: 'Percent', value: 100 }]);
  },
  prepareCreate(draft) {
    draft.status = { currentMetrics: null, desiredReplicas: 0 };
  },
  validate({ spec }) {
    const { minReplicas = 1 } = spec;
    const maxReplicas = spec.maxReplicas ?? 0;
    const errors: FieldError[] = [];
    if (minReplicas < 1) {
      errors.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
    }
    if (maxReplicas === 0) {
      errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
    } else if (maxReplicas < 0) {
      errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
    }
    if (maxReplicas < minReplicas) {
      const detail = 'must be greater than or equal to `minReplicas`';
      errors.push(invalid('spec.maxReplicas', maxReplicas, detail));
    }
    const metrics = spec.metrics ?? [];
    const isDriven = metrics.some(({ type }) => type === 'Object' || type === 'External');
    if (minReplicas === 0 && !isDriven) {
      const detail =
        'must specify at least one Object or External metric to support scaling to zero replicas';
      errors.push(forbidden('spec.metrics', detail));
    }
    return [
      ...errors,
      ...validateReference(spec.scaleTargetRef),
      ...metrics.flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`)),
    ];
  },
});

function defaultRules(
  behavior: { scaleUp?: ScalingRules; scaleDown?: ScalingRules },
  direction: 'scaleUp' | 'scaleDown',
  policies: NonNullable<ScalingRules['policies']>,
): void {
  const rules: ScalingRules = behavior[direction] ?? {};
  rules.selectPolicy ??= 'Max';
  rules.policies ??= policies;
  if (direction === 'scaleUp') rules.stabilizationWindowSeconds ??= 0;
  behavior[direction] = rules;
}

function validateReference(
  reference: { apiVersion?: string; kind?: string; name?: string } | undefined,
): FieldError[] {
  const { apiVersion = '' } = reference ?? {};
  const path = 'spec.scaleTargetRef.apiVersion';
  const grouped = apiVersion.includes('/')
    ? []
    : [invalid(path, apiVersion, 'apiVersion must specify API group')];
  const named = (['kind', 'name'] as const).flatMap((member) => {
    const path = `spec.scaleTargetRef.${member}`;
    const value = reference?.[member] ?? '';
    if (value === '') return [required(path)];
    return pathSegmentErrors(value).map((why) => invalid(path, value, why));
  });
  return [...named, ...grouped];
}

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

/** The field with the details of a metric type: `resource`, `containerResource`. */
const sourceField = (type: string) => type.charAt(0).toLowerCase() + type.slice(1);

function validateMetric(metric: Metric, path: string): FieldError[] {
  const type = metric.type ?? '';
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric source type'));
  if (!metricTypes.includes(type)) {
    return [...errors, notSupported(`${path}.type`, type, metricTypes)];
  }
  const field = sourceField(type);
  const source = metric[field];
  if (source === undefined) {
    const detail = 'must populate information for the given metric source';
    return [required(`${path}.${field}`, detail)];
  }
  if (type !== 'Resource') return errors;
  if ((asObject(source)['name'] ?? '') === '') {
    errors.push(required(`${path}.${field}.name`, 'must specify a resource name'));
  }
  return [...errors, ...validateResourceTarget(asObject(source), `${path}.${field}.target`)];
}

function validateResourceTarget(source: JsonObject, path: string): FieldError[] {
  const target: MetricTarget = asObject(source['target']);
  const { type = '', averageUtilization, averageValue } = target;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    const detail = 'must be either Utilization, Value, or AverageValue';
    errors.push(invalid(`${path}.type`, type, detail));
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    const detail = 'must be greater than 0';
    errors.push(invalid(`${path}.averageUtilization`, averageUtilization, detail));
  }
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    errors.push(required(`${path}.averageUtilization`, detail));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const detail = 'may not set both a target raw value and a target utilization';
    errors.push(forbidden(`${path}.averageValue`, detail));
  }
  return errors;
}

const mostMetrics = 2;

function formatMetrics({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, index) =>
    formatMetric(metric, status?.currentMetrics?.[index]),
  );
  const shown = texts.slice(0, mostMetrics).join(', ');
  const rest = texts.length - mostMetrics;
  return rest > 0 ? `${shown} + ${rest} more...` : shown;
}

function formatMetric(metric: Metric, status: Metric | undefined): string {
  const field = sourceField(metric.type);
  const source = asObject(metric[field]);
  const target: MetricTarget = asObject(source['target']);
  const current: MetricTarget = asObject(asObject(status?.[field])['current']);
  const unknown = '<unknown>';
  if (metric.type === 'Resource' || metric.type === 'ContainerResource') {
    const name = String(source['name']);
    if (target.averageValue !== undefined) {
      return `${name}: ${current.averageValue ?? unknown}/${target.averageValue}`;
    }
    const percent = (value: number | undefined, absent: string) =>
      value === undefined ? absent : `${value}%`;
    return `${name}: ${percent(current.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`;
  }
  if (target.averageValue !== undefined) {
    const suffix = metric.type === 'Pods' ? '' : ' (avg)';
    return `${current.averageValue ?? unknown}/${target.averageValue}${suffix}`;
  }
  return `${current.value ?? unknown}/${target.value ?? unknown}`;
}
