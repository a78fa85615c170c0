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
/** The same verbs, in the order of custom resources. */
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
  readonly verbs: readonly string[];
}

/** The order of groups matters, because clients take the first group that contains a resource name. */
const groupOrder = [
  'apps',
  'events.k8s.io',
  'autoscaling',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
];

function subresourcesOf({ definition, isCustom }: ServedResource): SubresourceEntry[] {
  const { group, version, kind } = definition;
  const own = { group, version, kind };
  const more = Object.entries(definition.moreSubresources ?? {});
  const entries: SubresourceEntry[] = [
    ...more.map(([name, verbs]) => ({ name, kind: own, verbs })),
    ...(definition.scale === undefined
      ? []
      : [{ name: 'scale', kind: scaleKind, verbs: subresourceVerbs }]),
    ...(definition.statusSubresource
      ? [{ name: 'status', kind: own, verbs: subresourceVerbs }]
      : []),
  ];
  return isCustom ? entries.reverse() : entries;
}

/** The versions of each group, the preferred version first. */
function versionsByGroup(served: readonly ServedResource[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { definition } of served) {
    const versions = groups.get(definition.group) ?? [];
    if (!versions.includes(definition.version)) versions.push(definition.version);
    groups.set(definition.group, versions);
  }
  const rank = (group: string) => (groupOrder.includes(group) ? groupOrder.indexOf(group) : 99);
  return new Map([...groups].sort(([a], [b]) => rank(a) - rank(b)));
}

const servedAt = (served: readonly ServedResource[], group: string, version: string) =>
  served
    .filter(({ definition }) => definition.group === group && definition.version === version)
    .sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));

function verbsOf({ definition, isCustom }: ServedResource): readonly string[] {
  const verbs = isCustom ? customVerbs : allVerbs;
  return definition.deletesCollections === false
    ? verbs.filter((verb) => verb !== 'deletecollection')
    : verbs;
}

/** `/api` and `/apis` as one document each, the format that current clients request. */
export function aggregatedDiscovery(served: readonly ServedResource[], core: boolean): object {
  const groups = [...versionsByGroup(served)].filter(([group]) => (group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: core ? {} : { name: group },
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
  const subresources = subresourcesOf(served);
  // Built-in kinds leave out the group and version if they equal those of the document.
  const responseKind = ({ group, version, kind }: Kind) =>
    group === definition.group && !served.isCustom
      ? { group: '', version: '', kind }
      : { group, version, kind };
  return {
    resource: definition.plural,
    responseKind: responseKind(definition),
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
            responseKind: responseKind(subresource.kind),
            verbs: subresource.verbs,
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
      ...subresourcesOf(member).map(({ name, kind, verbs }) => ({
        name: `${member.definition.plural}/${name}`,
        singularName: '',
        namespaced: member.definition.namespaced,
        ...(kind.group === group ? {} : { group: kind.group, version: kind.version }),
        kind: kind.kind,
        verbs,
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
