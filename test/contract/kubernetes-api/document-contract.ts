import { describe, expect, test } from 'vitest';
import publishedSchemas from '../../../packages/fake-kubernetes/src/openapi/built-in-schemas.json' with {
  type: 'json',
};
import {
  builtInKinds,
  documentName,
  schemasOf,
  type OpenApiDocument,
} from '../../services/kubernetes-schemas.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** What clients learn about the server before they use it. */
export function documentContract(server: () => ServerUnderTest): void {
  describe('documents', () => {
    test.each(Object.entries(builtInKinds))(
      'the schemas of %s are those that objects are parsed by',
      async (groupVersion, kinds) => {
        const path = `/openapi/v3/${documentName(groupVersion)}`;
        const { status, body } = await server().call('GET', path);
        if (status === 404) return;
        const schemas = schemasOf(body as OpenApiDocument, kinds);
        for (const [name, schema] of Object.entries(schemas)) {
          expect.soft(schema, name).toEqual((publishedSchemas as Record<string, unknown>)[name]);
        }
      },
    );

    test('both forms of discovery name the same resources', async () => {
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const aggregated = await server().call('GET', '/apis', { headers: { accept } });
      expect(aggregated.headers['content-type']).toBe(accept);
      const { items } = aggregated.body as {
        items: {
          metadata: { name: string };
          versions: { version: string; resources: { resource: string }[] }[];
        }[];
      };
      const apps = items.find(({ metadata }) => metadata.name === 'apps');
      const listed = await server().call('GET', '/apis/apps/v1');
      const { resources } = listed.body as { resources: { name: string }[] };
      expect(apps?.versions[0]?.resources.map(({ resource }) => resource)).toEqual(
        resources.map(({ name }) => name).filter((name) => !name.includes('/')),
      );
    });
  });
}
