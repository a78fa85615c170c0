import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePrefix, prefixContains, type Prefix } from '@causeway/base/address/prefix';
import type { KubeObject } from '../object.ts';
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../schema/field-error.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validatePortName, validatePortNumber, validatePrefix } from './field-rules.ts';
import { formatSelector, validateLabelSelector, type LabelSelector } from './label-selector.ts';

interface PolicyPort {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}

interface Peer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface NetworkPolicy extends KubeObject {
  spec: {
    podSelector?: LabelSelector;
    policyTypes?: string[];
    ingress?: { ports?: PolicyPort[]; from?: Peer[] }[];
    egress?: { ports?: PolicyPort[]; to?: Peer[] }[];
  };
}

export const networkPolicies = builtIn<NetworkPolicy>({
  group: 'networking.k8s.io',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  shortNames: ['netpol'],
  countsGeneration: true,
  columns: [
    nameColumn,
    column<NetworkPolicy>('Pod-Selector', ({ spec }) => formatSelector(spec.podSelector)),
    ageColumn,
  ],
  defaults(draft) {
    draft.spec ??= {};
    const { spec } = draft;
    spec.podSelector ??= {};
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
    }
    if ((spec.policyTypes ?? []).length > 0) return;
    spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  },
  validate({ spec }) {
    const errors = validateLabelSelector(spec.podSelector, 'spec.podSelector');
    for (const [index, rule] of (spec.ingress ?? []).entries()) {
      errors.push(...validateRule(rule.ports, rule.from, 'from', `spec.ingress[${index}]`));
    }
    for (const [index, rule] of (spec.egress ?? []).entries()) {
      errors.push(...validateRule(rule.ports, rule.to, 'to', `spec.egress[${index}]`));
    }
    for (const [index, type] of (spec.policyTypes ?? []).entries()) {
      if (type === 'Ingress' || type === 'Egress') continue;
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']));
    }
    return errors;
  },
});

function validateRule(
  ports: readonly PolicyPort[] = [],
  peers: readonly Peer[] = [],
  direction: 'from' | 'to',
  path: string,
): FieldError[] {
  return [
    ...ports.flatMap((port, index) => validatePort(port, `${path}.ports[${index}]`)),
    ...peers.flatMap((peer, index) => validatePeer(peer, `${path}.${direction}[${index}]`)),
  ];
}

function validatePort({ protocol, port, endPort }: PolicyPort, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const known = ['TCP', 'UDP', 'SCTP'];
  if (protocol !== undefined && !known.includes(protocol)) {
    errors.push(notSupported(`${path}.protocol`, protocol, known));
  }
  if (typeof port === 'string') {
    if (endPort !== undefined) {
      const detail = 'may not be specified when `port` is non-numeric';
      errors.push(invalid(`${path}.endPort`, endPort, detail));
    }
    errors.push(...validatePortName(port, `${path}.port`));
  } else if (typeof port === 'number') {
    errors.push(...validatePortNumber(port, `${path}.port`));
    if (endPort !== undefined) {
      if (endPort < port) {
        errors.push(invalid(`${path}.endPort`, port, 'must be greater than or equal to `port`'));
      }
      errors.push(...validatePortNumber(endPort, `${path}.endPort`));
    }
  } else if (endPort !== undefined) {
    const detail = 'may not be specified when `port` is not specified';
    errors.push(invalid(`${path}.endPort`, endPort, detail));
  }
  return errors;
}

function validatePeer(peer: Peer, path: string): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelector(podSelector, `${path}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
  ];
  if (ipBlock !== undefined) errors.push(...validateBlock(ipBlock, `${path}.ipBlock`));
  const selectors = [podSelector, namespaceSelector].filter((one) => one !== undefined).length;
  if (ipBlock === undefined && selectors === 0) errors.push(required(path, 'must specify a peer'));
  if (ipBlock !== undefined && selectors > 0) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateBlock(block: { cidr: string; except?: string[] }, path: string): FieldError[] {
  if (block.cidr === '') return [required(`${path}.cidr`)];
  const errors = validatePrefix(block.cidr, `${path}.cidr`);
  const outer = tryParsePrefix(block.cidr);
  for (const [index, text] of (block.except ?? []).entries()) {
    const here = `${path}.except[${index}]`;
    errors.push(...validatePrefix(text, here));
    const inner = tryParsePrefix(text);
    if (outer === undefined || inner === undefined) continue;
    if (!prefixContains(outer, inner.address) || outer.length >= inner.length) {
      errors.push(invalid(here, text, 'must be a strict subset of `cidr`'));
    }
  }
  return errors;
}

function tryParsePrefix(text: string): Prefix | undefined {
  try {
    return parsePrefix(text);
  } catch (error) {
    if (error instanceof CausewayError) return undefined;
    throw error;
  }
}
