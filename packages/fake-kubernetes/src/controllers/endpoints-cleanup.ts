import type { ClusterApi } from '../cluster-api.ts';

/**
 * Deletes the Endpoints of a deleted Service in the same request, regardless of their creator. A client that
 * recreates the Service in its next request finds no old Endpoints. This is part of the API server itself.
 */
export function endpointsCleanup(api: ClusterApi): { close(): void } {
  return api.store.watch('services', api.store.version, ({ type, object }) => {
    if (type !== 'DELETED') return;
    const { namespace, name } = object.metadata;
    const isLeft = api.store.get('endpoints', namespace, name) !== undefined;
    if (isLeft) api.delete('endpoints', namespace, name);
  });
}
