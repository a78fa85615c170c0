import type { KubeObject } from '../object.ts';
import { forbidden, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { ageColumn, column, nameColumn, wideColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateOneOf, validatePrefix } from './field-rules.ts';

export interface Node extends KubeObject {
  spec: {
    podCIDR?: string;
    podCIDRs?: string[];
    providerID?: string;
    unschedulable?: boolean;
    taints?: { key: string; value?: string; effect: string }[];
  };
  status?: {
    conditions?: {
      type: string;
      status: string;
      lastHeartbeatTime?: string | null;
      lastTransitionTime?: string | null;
    }[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: Record<string, string>;
    daemonEndpoints?: object;
  };
}

const emptyNodeInfo = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
};

const rolePrefix = 'node-role.kubernetes.io/';

export const nodes = builtIn<Node>({
  plural: 'nodes',
  kind: 'Node',
  shortNames: ['no'],
  namespaced: false,
  statusSubresource: true,
  keepsStatusOnCreate: true,
  columns: [
    nameColumn,
    column<Node>('Status', readiness),
    column<Node>('Roles', roles),
    ageColumn,
    column<Node>('Version', (node) => info(node, 'kubeletVersion', '')),
    wideColumn<Node>('Internal-IP', (node) => addressOf(node, 'InternalIP')),
    wideColumn<Node>('External-IP', (node) => addressOf(node, 'ExternalIP')),
    wideColumn<Node>('OS-Image', (node) => info(node, 'osImage', '<unknown>')),
    wideColumn<Node>('Kernel-Version', kernelVersion),
    wideColumn<Node>('Container-Runtime', (node) =>
      info(node, 'containerRuntimeVersion', '<unknown>'),
    ),
  ],
  fieldLabels: ({ spec }) => ({ 'spec.unschedulable': String(spec.unschedulable ?? false) }),
  defaults(draft) {
    draft.spec ??= {};
    const { podCIDR, podCIDRs } = draft.spec;
    if (podCIDR !== undefined) draft.spec.podCIDRs ??= [podCIDR];
    else if (podCIDRs?.[0] !== undefined) draft.spec.podCIDR = podCIDRs[0];
    draft.status ??= {};
    draft.status.daemonEndpoints ??= { kubeletEndpoint: { Port: 0 } };
    for (const condition of draft.status.conditions ?? []) {
      condition.lastHeartbeatTime ??= null;
      condition.lastTransitionTime ??= null;
    }
    draft.status.nodeInfo = { ...emptyNodeInfo, ...draft.status.nodeInfo };
  },
  prepareCreate({ spec }) {
    // A new node accepts no pods until the node controller has checked its conditions.
    const key = 'node.kubernetes.io/not-ready';
    if ((spec.taints ?? []).some((taint) => taint.key === key)) return;
    spec.taints = [...(spec.taints ?? []), { effect: 'NoSchedule', key }];
  },
  validate(object, old) {
    const errors = (object.spec.podCIDRs ?? []).flatMap((text, index) =>
      validatePrefix(text, `spec.podCIDRs[${index}]`),
    );
    errors.push(...validateTaints(object));
    if (old === undefined) return errors;
    const had = old.spec.podCIDRs ?? [];
    if (had.length > 0 && !jsonEqual(had, object.spec.podCIDRs ?? [])) {
      const detail = 'node updates may not change podCIDR except from "" to valid';
      errors.push(forbidden('spec.podCIDRs', detail));
    }
    if (old.spec.providerID !== undefined && old.spec.providerID !== object.spec.providerID) {
      const detail = 'node updates may not change providerID except from "" to valid';
      errors.push(forbidden('spec.providerID', detail));
    }
    return errors;
  },
});

const taintEffects = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];

function validateTaints({ spec }: Node): FieldError[] {
  return (spec.taints ?? []).flatMap(({ effect }, index) =>
    validateOneOf(effect, taintEffects, `metadata.taints[${index}].effect`),
  );
}

function readiness({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const words = [
    ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady',
    ...(spec.unschedulable === true ? ['SchedulingDisabled'] : []),
  ];
  return words.join(',');
}

function roles({ metadata }: Node): string {
  const names = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  const unique = [...new Set(names.filter((name) => name !== ''))].sort();
  return unique.length === 0 ? '<none>' : unique.join(',');
}

function info({ status }: Node, name: keyof typeof emptyNodeInfo, absent: string): string {
  const value = status?.nodeInfo?.[name] ?? '';
  return value === '' ? absent : value;
}

function kernelVersion(node: Node): string {
  const architecture = info(node, 'architecture', '');
  const version = info(node, 'kernelVersion', '<unknown>');
  return architecture === '' ? version : `${version} (${architecture})`;
}

function addressOf({ status }: Node, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>';
}
