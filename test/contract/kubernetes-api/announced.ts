import type { ServerUnderTest } from './server-under-test.ts';
import { withoutChance } from './transcript.ts';

interface GroupVersion {
  readonly groupVersion: string;
}

interface AggregatedGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly {
      readonly resource: string;
      readonly subresources?: readonly { readonly subresource: string }[];
    }[];
  }[];
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * The discovery documents of a server: its groups in order, and each resource with its verbs and names.
 * Subresources are separate from their resources, because the embedded API has fewer.
 */
export async function announced(server: ServerUnderTest) {
  const resources = new Map<string, unknown>();
  const list = (await server.call('GET', '/apis')).body as {
    groups: readonly { readonly name: string; readonly versions: readonly GroupVersion[] }[];
  };
  const paths = list.groups.flatMap(({ versions }) =>
    versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
  );
  for (const path of ['/api/v1', ...paths]) {
    const { body } = await server.call('GET', path);
    for (const resource of (body as { resources: readonly { name: string }[] }).resources) {
      resources.set(`${path} ${resource.name}`, withoutChance(resource));
    }
  }
  for (const path of ['/api', '/apis']) {
    const { body } = await server.call('GET', path, { headers: { accept } });
    for (const group of (body as { items: readonly AggregatedGroup[] }).items) {
      for (const { version, resources: members } of group.versions) {
        for (const { subresources = [], ...resource } of members) {
          const name = `aggregated ${group.metadata.name ?? ''}/${version} ${resource.resource}`;
          resources.set(name, resource);
          for (const part of subresources) resources.set(`${name}/${part.subresource}`, part);
        }
      }
    }
  }
  return { groups: list.groups.map(({ name }) => name), resources };
}
