import type { Clock } from '@causeway/base/time/clock';
import type { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { ApiRequest, Call } from './call.ts';
import { notServed } from './dispatch.ts';
import { parseSelection } from './list-query.ts';
import { negotiateShape } from './negotiation.ts';
import { includeObjectOf } from './read-handlers.ts';
import type { ResourcePath } from './request-info.ts';
import { parseWatchQuery } from './watch-query.ts';
import type { WatchRequest } from './watch-stream.ts';

export interface RoutedRequest {
  readonly cluster: EmbeddedCluster;
  readonly clock: Clock;
  readonly resource: ResourcePath | undefined;
  readonly query: URLSearchParams;
  readonly request: ApiRequest;
}

/** Builds the call of a request. Throws if the resource is not served. */
export function callOf({ cluster, clock, resource, query, request }: RoutedRequest): Call {
  const served =
    resource === undefined
      ? undefined
      : cluster.registry.at(resource.group, resource.version, resource.plural);
  if (resource === undefined || served === undefined) throw notServed();
  return { cluster, served, path: resource, query, request, wallTime: clock.wallTime() };
}

/** Whether the group of a path is served. The server answers other paths in plain text, without a Status. */
export function isGroupServed(cluster: EmbeddedCluster, path: string): boolean {
  const [root, group] = path.split('/').slice(1);
  if (root === 'api') return true;
  return root === 'apis' && cluster.definitions().some((definition) => definition.group === group);
}

/** Parses a watch request. A watch of one object selects its name. */
export function watchRequestOf({ served, path, query, request }: Call): WatchRequest {
  if (path.name !== undefined) query.set('fieldSelector', `metadata.name=${path.name}`);
  return {
    ...parseWatchQuery(query),
    definition: served.definition,
    selection: parseSelection(served, path.namespace, query),
    shape: negotiateShape(request.headers.accept),
    includeObject: includeObjectOf(query),
  };
}
