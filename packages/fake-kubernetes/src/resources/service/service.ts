import type { ResourceDefinition } from '../../resource-definition.ts';
import { dnsLabelErrors } from '../../schema/names.ts';
import { ageColumn, column, formatLabels, nameColumn, wideColumn } from '../columns.ts';
import { builtIn } from '../definition.ts';
import type { ServiceAllocations } from './service-allocations.ts';
import { allocate } from './allocate-service.ts';
import { defaultService } from './service-defaults.ts';
import { carryOver, dropWhatTheTypeLacks } from './service-transition.ts';
import type { Service } from './service-type.ts';
import { validateServiceStatus, validateServiceUpdate } from './service-update-validation.ts';
import { validateService } from './service-validation.ts';

export function services(allocations: ServiceAllocations): ResourceDefinition {
  return builtIn<Service>({
    plural: 'services',
    returnsDeleted: true,
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    statusSubresource: true,
    createsOnUpdate: true,
    warnings: ({ spec }) =>
      (spec.externalIPs ?? []).length === 0
        ? []
        : ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'],
    nameErrors: dnsLabelErrors,
    columns: [
      nameColumn,
      column<Service>('Type', ({ spec }) => spec.type ?? ''),
      column<Service>('Cluster-IP', ({ spec }) => spec.clusterIPs?.[0] ?? '<none>'),
      column<Service>('External-IP', externalAddresses),
      column<Service>('Port(s)', formatPorts),
      ageColumn,
      wideColumn<Service>('Selector', ({ spec }) => formatLabels(spec.selector)),
    ],
    fieldLabels: ({ spec }) => ({
      'spec.clusterIP': spec.clusterIP ?? '',
      'spec.type': spec.type ?? '',
    }),
    defaults: defaultService,
    prepareCreate(draft) {
      const { clusterIP = '', clusterIPs = [] } = draft.spec;
      if (clusterIP !== '' && clusterIPs.length === 0) draft.spec.clusterIPs = [clusterIP];
      allocate(allocations, draft, undefined);
      hideInternalPolicy(draft);
    },
    prepareUpdate(draft, old) {
      carryOver(draft, old);
      dropWhatTheTypeLacks(draft, old);
      allocate(allocations, draft, old);
      hideInternalPolicy(draft);
    },
    validate: (service, old) => [
      ...(old === undefined ? [] : validateServiceUpdate(service, old)),
      ...validateService(service),
    ],
    validateStatus: validateServiceStatus,
  });
}

/**
 * ExternalName Services have no traffic policy. The server hides a policy that remains from an earlier type.
 */
function hideInternalPolicy({ spec }: Service): void {
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
}

function externalAddresses({ spec, status }: Service): string {
  const given = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ExternalName':
      return spec.externalName ?? '';
    case 'ClusterIP':
    case 'NodePort':
      return given.length === 0 ? '<none>' : given.join(',');
    case 'LoadBalancer': {
      const ingress = status?.loadBalancer?.ingress ?? [];
      const names = ingress.map(({ ip, hostname }) => ip ?? hostname ?? '');
      const unique = [...new Set(names.filter((name) => name !== ''))].sort().join(',');
      const all = [unique, ...given].filter((text) => text !== '');
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    default:
      return '<unknown>';
  }
}

function formatPorts({ spec }: Service): string {
  const ports = (spec.ports ?? []).map(({ port, nodePort = 0, protocol = 'TCP' }) =>
    nodePort === 0 ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
  );
  return ports.length === 0 ? '<none>' : ports.join(',');
}
