import type { EndpointSubset } from '@causeway/kubernetes/objects/core-objects';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { CurrentObjects } from './content.ts';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { digest } from './names.ts';
import { annotations } from './ownership.ts';

/** The mark of the addresses that discovery wrote into an object. */
export function contentMark(parts: readonly string[]): Record<string, string> {
  return { [annotations.content]: digest(parts) };
}

export function subsetsMark(subsets: readonly EndpointSubset[]): Record<string, string> {
  const parts = subsets.flatMap(({ ports = [], addresses = [], notReadyAddresses = [] }) => [
    ...ports.map(({ name, protocol, port }) => `${name}/${protocol}/${port}`),
    ...[...addresses, ...notReadyAddresses].map(({ ip }) => ip).sort(),
  ]);
  return contentMark(parts);
}

/**
 * The objects as discovery wrote them, as far as known. If discovery wrote the same addresses before, every
 * difference comes from another client, and undoing it loses nothing.
 */
export function asWritten(current: CurrentObjects, wanted: CurrentObjects): CurrentObjects {
  const restore = <T extends KubeObject>(objects: readonly T[], same: readonly T[]): T[] => {
    const byKey = new Map(same.map((object) => [keyOf(object), object]));
    return objects.map((object) => {
      const ours = byKey.get(keyOf(object));
      return ours !== undefined && markOf(object) === markOf(ours) ? ours : object;
    });
  };
  return {
    services: current.services,
    slices: restore(current.slices, wanted.slices),
    endpoints: restore(current.endpoints, wanted.endpoints),
  };
}

function markOf({ metadata }: KubeObject): string {
  return metadata?.annotations?.[annotations.content] ?? '';
}
