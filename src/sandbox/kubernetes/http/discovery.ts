import { scaleKind } from '../cluster/scale.ts';
import type { ServedResource } from '../cluster/served-resource.ts';
import { apiVersionOf } from '../resource-definition.ts';

const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
/** The same verbs, in the order in which custom resources list them. */
const customVerbs = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
const subresourceVerbs = ['get', 'patch', 'update'];

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface SubresourceEntry {
  readonly name: string;
  readonly kind: Kind;
}

function subresourcesOf({ definition, isCustom }: ServedResource): SubresourceEntry[] {
  const { group, version, kind } = definition;
  const entries = [
    ...(definition.scale === undefined ? [] : [{ name: 'scale', kind: scaleKind }]),
    ...(definition.statusSubresource ? [{ name: 'status', kind: { group, version, kind } }] : []),
  ];
  return isCustom ? entries.reverse() : entries;
}

/** The versions of each group, the preferred one first, in the order in which they are served. */
function versionsByGroup(served: readonly ServedResource[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { definition } of served) {
    const versions = groups.get(definition.group) ?? [];
    if (!versions.includes(definition.version)) versions.push(definition.version);
    groups.set(definition.group, versions);
  }
  return groups;
}

const servedAt = (served: readonly ServedResource[], group: string, version: string) =>
  served
    .filter(({ definition }) => definition.group === group && definition.version === version)
    .sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));

const verbsOf = ({ isCustom }: ServedResource) => (isCustom ? customVerbs : allVerbs);

/** `/api` and `/apis` in one document each, as current clients ask for them. */
export function aggregatedDiscovery(served: readonly ServedResource[], core: boolean): object {
  const groups = [...versionsByGroup(served)].filter(([group]) => (group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: { ...(core ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map((version) => ({
        version,
        resources: servedAt(served, group, version).map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregatedResource(served: ServedResource): object {
  const { definition } = served;
  const { group, version, kind } = definition;
  const subresources = subresourcesOf(served);
  return {
    resource: definition.plural,
    responseKind: { group, version, kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(served),
    ...(definition.shortNames.length === 0 ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories.length === 0 ? {} : { categories: definition.categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: subresource.kind,
            verbs: subresourceVerbs,
          })),
        }),
  };
}

export function coreVersions(address: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

export function groupList(served: readonly ServedResource[]): object {
  const groups = [...versionsByGroup(served)].filter(([group]) => group !== '');
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map(([group, versions]) => groupEntry(group, versions)),
  };
}

export function groupDocument(
  served: readonly ServedResource[],
  group: string,
): object | undefined {
  const versions = versionsByGroup(served).get(group);
  return versions === undefined || group === ''
    ? undefined
    : { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group, versions) };
}

function groupEntry(group: string, versions: readonly string[]) {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/GROUP/VERSION`. */
export function resourceList(
  served: readonly ServedResource[],
  group: string,
  version: string,
): object | undefined {
  const members = servedAt(served, group, version);
  if (members.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: members.flatMap((member) => [
      resourceEntry(member),
      ...subresourcesOf(member).map(({ name, kind }) => ({
        name: `${member.definition.plural}/${name}`,
        singularName: '',
        namespaced: member.definition.namespaced,
        ...(kind.group === group ? {} : { group: kind.group, version: kind.version }),
        kind: kind.kind,
        verbs: subresourceVerbs,
      })),
    ]),
  };
}

function resourceEntry(served: ServedResource): object {
  const { definition } = served;
  return {
    name: definition.plural,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: verbsOf(served),
    ...(definition.shortNames.length === 0 ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories.length === 0 ? {} : { categories: definition.categories }),
  };
}
