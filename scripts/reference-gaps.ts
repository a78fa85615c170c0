import { marks, occmMarks, otherNames } from './reference-annotations.ts';
import { agentRefusals } from './reference-errors.ts';
import { eventGaps } from './event-gaps.ts';
import { agentRequests, dashboardRequests, observeRequests } from './reference-http.ts';
import { wordsInSources } from './words-in-sources.ts';

/** Differences between the sources and the tables of the references, as text. */
export function referenceGaps(): string[] {
  const names = wordsInSources([
    /['`](causeway\.dev\/[A-Za-z0-9-]+)['`]/,
    /'(idling\.alpha\.openshift\.io\/[a-z-]+)'/,
    /'(cah-loadbalancer\.k8s\.cloudandheat\.com\/[a-z-]+)'/,
    /'(openstack\.org\/kuryr-[a-z-]+)'/,
    /'(service\.beta\.kubernetes\.io\/[a-z-]+)'/,
    /'(metallb\.(?:io|universe\.tf)\/[A-Za-z-]+)'/,
  ]);
  const occm = wordsInSources([
    /reader\.(?:text|flag)\((?:\w+, )?'([a-z-]+)'/,
    /reader\.number(?:Within)?\(-?\d+, (?:\w+, )*'([a-z-]+)'/,
    /(?:reader|this)\.choice\((?:\[[^\]]*\]|[\w.()]+), '([a-z-]+)'/,
  ]);
  const refusals = [/reason: '([a-z-]+)'/, /new UpdateRejected\(\s*'([a-z-]+)'/];
  const agentPaths = [/case '\w+ (\/[^']+)':/, /\.url === '(\/[^']+)'/];
  return [
    ...eventGaps(),
    ...compare('reference-annotations.ts', names.difference(otherNames), Object.keys(marks)),
    ...compare('reference-annotations.ts', occm, Object.keys(occmMarks)),
    ...compare(
      'reference-errors.ts',
      wordsInSources(refusals, 'causeway/src/gateway/agent/'),
      Object.keys(agentRefusals),
    ),
    ...comparePaths(wordsInSources(agentPaths, 'causeway/src/gateway/agent/api/'), agentRequests),
    ...comparePaths(
      wordsInSources([/pathname === '(\/api\/[^']+)'/], 'causeway/src/console/dashboard/'),
      dashboardRequests,
    ),
    ...comparePaths(
      wordsInSources([/case '(\/[a-z]+)'/], 'base/src/observability/'),
      observeRequests,
    ),
  ];
}

function comparePaths(found: ReadonlySet<string>, requests: object): string[] {
  const paths = Object.keys(requests).map((name) => name.split(' ')[1] ?? '');
  return compare('reference-http.ts', found, paths);
}

function compare(file: string, found: ReadonlySet<string>, described: readonly string[]): string[] {
  const known = new Set(described);
  return [
    ...[...found.difference(known)].map((word) => `scripts/${file} does not describe ${word}`),
    ...[...known.difference(found)].map(
      (word) => `scripts/${file} describes ${word}, which no source uses`,
    ),
  ];
}
