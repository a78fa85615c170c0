import { waitFor } from '../../services/wait-for.ts';
import type { ServerUnderTest } from './server-under-test.ts';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Creates a CustomResourceDefinition and waits until its resource is served. */
export async function define(server: ServerUnderTest, definition: Definition): Promise<void> {
  const created = await server.call('POST', path, { body: definition });
  if (created.status !== 201) throw new Error(`not defined: ${JSON.stringify(created.body)}`);
  const { group, names, versions } = definition.spec;
  const collection = `/apis/${group}/${versions[0]?.name ?? ''}/${names.plural}`;
  await waitFor(`${collection} to be served`, async () => {
    const { status } = await server.call('GET', collection);
    return status === 200;
  });
}
