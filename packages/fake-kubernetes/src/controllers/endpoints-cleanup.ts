import type { ClusterApi } from '../cluster-api.ts';

/**
 * With a Service go the Endpoints of its name, whoever made them, in the same request: whoever makes
 * the Service anew with the next one finds them gone. Belongs to the API server itself.
 */
export function endpointsCleanup(api: ClusterApi): { close(): void } {
  return api.store.watch('services', api.store.version, ({ type, object }) => {
    if (type !== 'DELETED') return;
    const { namespace, name } = object.metadata;
    const isLeft = api.store.get('endpoints', namespace, name) !== undefined;
    if (isLeft) api.delete('endpoints', namespace, name);
  });
}
