import { ApiError } from '../status.ts';
import { type Call, methodNotAllowed, type Reply } from './call.ts';
import { deleteCollection, deleteOne } from './delete-handlers.ts';
import { getObject, getScale, listObjects } from './read-handlers.ts';
import { createObject, patchObject, replaceObject, writeScale } from './write-handlers.ts';

/** Calls the handler of a request, selected by path and method. */
export async function dispatch(call: Call): Promise<Reply> {
  const { path, served } = call;
  const { definition } = served;
  const method = call.request.method ?? 'GET';
  if (path.namespace !== undefined && !definition.namespaced) throw notServed();
  if (path.subresource !== undefined) return dispatchSubresource(call, path.subresource, method);
  if (path.name !== undefined) {
    if (definition.namespaced && path.namespace === undefined) throw notServed();
    return dispatchObject(call, method);
  }
  switch (method) {
    case 'GET':
      return listObjects(call);
    case 'POST':
      if (definition.namespaced && path.namespace === undefined) throw methodNotAllowed();
      return createObject(call);
    case 'DELETE':
      if (definition.namespaced && path.namespace === undefined) throw methodNotAllowed();
      if (definition.deletesCollections === false) throw methodNotAllowed();
      return deleteCollection(call);
    default:
      throw methodNotAllowed();
  }
}

async function dispatchObject(call: Call, method: string): Promise<Reply> {
  switch (method) {
    case 'GET':
      return getObject(call);
    case 'PUT':
      return replaceObject(call);
    case 'PATCH':
      return patchObject(call);
    case 'DELETE':
      return deleteOne(call);
    default:
      throw methodNotAllowed();
  }
}

async function dispatchSubresource(
  call: Call,
  subresource: string,
  method: string,
): Promise<Reply> {
  const { definition } = call.served;
  if (subresource === 'scale' && definition.scale !== undefined) {
    if (method === 'GET') return getScale(call);
    if (method === 'PUT' || method === 'PATCH') return writeScale(call);
    throw methodNotAllowed();
  }
  if (subresource === 'finalize' && definition.moreSubresources?.['finalize'] !== undefined) {
    if (method === 'PUT') return replaceObject(call, 'finalize');
    throw methodNotAllowed();
  }
  if (subresource !== 'status' || !definition.statusSubresource) throw notServed();
  if (method === 'GET') return getObject(call);
  if (method === 'PUT') return replaceObject(call, 'status');
  if (method === 'PATCH') return patchObject(call, 'status');
  throw methodNotAllowed();
}

export function notServed(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource', {});
}
