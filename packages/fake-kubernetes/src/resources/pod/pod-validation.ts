import {
  duplicate,
  forbidden,
  invalid,
  notFound,
  required,
  type FieldError,
} from '../../schema/field-error.ts';
import { jsonEqual } from '../../schema/json.ts';
import { dnsLabelErrors, subdomainErrors } from '../../schema/names.ts';
import {
  validateOneOf,
  validatePortName,
  validatePortNumber,
  validateProtocol,
} from '../field-rules.ts';
import { validateLabels } from '../label-selector.ts';
import type { Container, Pod, PodSpec, PodTemplate } from './pod-type.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

/** Validates common user errors in a pod spec. Checks that only a kubelet does are left out. */
export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const { containers, initContainers = [], volumes = [] } = spec;
  const errors: FieldError[] = [];
  const volumeNames = new Set<string>();
  for (const [index, { name }] of volumes.entries()) {
    const here = `${path}.volumes[${index}].name`;
    if (name === '' || name === undefined) errors.push(required(here));
    else errors.push(...dnsLabelErrors(name).map((why) => invalid(here, name, why)));
    if (volumeNames.has(name)) errors.push(duplicate(here, name));
    volumeNames.add(name);
  }
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const names = new Set<string>();
  for (const [list, given] of Object.entries({ containers, initContainers })) {
    for (const [index, container] of given.entries()) {
      const here = `${path}.${list}[${index}]`;
      errors.push(...validateContainer(container, names, volumeNames, here));
    }
  }
  errors.push(
    ...validateOneOf(spec.restartPolicy, restartPolicies, `${path}.restartPolicy`),
    ...validateOneOf(spec['dnsPolicy'] as string | undefined, dnsPolicies, `${path}.dnsPolicy`),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
  );
  for (const name of ['hostname', 'subdomain'] as const) {
    const value = spec[name];
    if (value === undefined) continue;
    errors.push(...dnsLabelErrors(value).map((why) => invalid(`${path}.${name}`, value, why)));
  }
  const { nodeName } = spec;
  if (nodeName !== undefined) {
    errors.push(
      ...subdomainErrors(nodeName).map((why) => invalid(`${path}.nodeName`, nodeName, why)),
    );
  }
  return errors;
}

export function validatePodTemplate(template: PodTemplate, path: string): FieldError[] {
  return [
    ...validateLabels(template.metadata?.labels, `${path}.labels`),
    ...validatePodSpec(template.spec, `${path}.spec`),
  ];
}

function validateContainer(
  container: Container,
  names: Set<string>,
  volumes: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const name = container.name ?? '';
  const { image = '' } = container;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${path}.name`));
  else errors.push(...dnsLabelErrors(name).map((why) => invalid(`${path}.name`, name, why)));
  if (name !== '' && names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
  if (image === '') errors.push(required(`${path}.image`));
  else if (image.trim() !== image) {
    errors.push(invalid(`${path}.image`, image, 'must not have leading or trailing whitespace'));
  }
  errors.push(...validatePorts(container, path));
  for (const [index, { name: variable }] of (container.env ?? []).entries()) {
    if (variable === '') errors.push(required(`${path}.env[${index}].name`));
  }
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const here = `${path}.volumeMounts[${index}]`;
    if (!volumes.has(mount.name)) errors.push(notFound(`${here}.name`, mount.name));
    if ((mount.mountPath ?? '') === '') errors.push(required(`${here}.mountPath`));
  }
  errors.push(...validateOneOf(container.imagePullPolicy, pullPolicies, `${path}.imagePullPolicy`));
  return errors;
}

function validatePorts(container: Container, path: string): FieldError[] {
  const names = new Set<string>();
  return (container.ports ?? []).flatMap((port, index) => {
    const here = `${path}.ports[${index}]`;
    const errors: FieldError[] = [];
    if (port.name !== undefined) {
      const wrong = validatePortName(port.name, `${here}.name`);
      if (wrong.length > 0) errors.push(...wrong);
      else if (names.has(port.name)) errors.push(duplicate(`${here}.name`, port.name));
      names.add(port.name);
    }
    if ((port.containerPort ?? 0) === 0) errors.push(required(`${here}.containerPort`));
    else errors.push(...validatePortNumber(port.containerPort, `${here}.containerPort`));
    if (port.hostPort !== undefined && port.hostPort !== 0) {
      errors.push(...validatePortNumber(port.hostPort, `${here}.hostPort`));
    }
    errors.push(...validateProtocol(port.protocol, `${here}.protocol`));
    return errors;
  });
}

const changeable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Only images, the deadline and tolerations of an existing pod's spec can change. */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  for (const name of ['containers', 'initContainers'] as const) {
    if ((pod.spec[name]?.length ?? 0) === (old.spec[name]?.length ?? 0)) continue;
    return [forbidden(`spec.${name}`, 'pod updates may not add or remove containers')];
  }
  if (jsonEqual(withoutChangeable(pod.spec, old.spec), withoutChangeable(old.spec, old.spec))) {
    return [];
  }
  return [forbidden('spec', `pod updates may not change fields other than ${changeable}\n`)];
}

function withoutChangeable(spec: PodSpec, old: PodSpec): PodSpec {
  const withoutImage = (containers: readonly Container[] = []) =>
    containers.map((container) => ({ ...container, image: '' }));
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  return {
    ...rest,
    terminationGracePeriodSeconds: old.terminationGracePeriodSeconds ?? 0,
    containers: withoutImage(spec.containers),
    initContainers: withoutImage(spec.initContainers),
  };
}
