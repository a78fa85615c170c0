import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePrefix } from '@causeway/base/address/prefix';
import { systemClock } from '@causeway/base/time/clock';
import { seededRandom } from '@causeway/base/simulation/random';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import { asObject, type KubeObject } from '../object.ts';
import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { apiVersionOf, groupResource } from '../resource-definition.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { ApiError } from '../status.ts';
import { ObjectStore } from '../store.ts';
import { builtInResources } from './built-in-resources.ts';

const network = {
  clusterIpRanges: [parsePrefix('10.96.0.0/16'), parsePrefix('fd00::/112')],
  nodePorts: { first: 30_000, last: 32_767 },
};

const texts = ['', 'a', 'None', '10.96.0.9', 'fd00::9', 'LoadBalancer', 'NodePort', 'UPPER', 'x/y'];

/** Any value that a schema allows, a few levels deep. Many fields are left out, as in real requests. */
function anyOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return fc.constantFrom(...texts);
    case 'integer':
    case 'number':
      return fc.constantFrom(-1, 0, 1, 80, 30_000, 70_000);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return depth === 0
        ? fc.constant([])
        : fc.array(anyOf(schema.items ?? {}, depth - 1), { maxLength: 2 });
    case 'object':
      return anyMembers(schema, depth);
    default:
      return fc.constantFrom<unknown>('25%', 1, 'http');
  }
}

function anyMembers(
  { properties, additionalProperties }: Schema,
  depth: number,
): fc.Arbitrary<unknown> {
  if (depth === 0) return fc.constant({});
  if (properties !== undefined) {
    const members = Object.entries(properties).map(
      ([name, member]) => [name, anyOf(member, depth - 1)] as const,
    );
    return fc.record(Object.fromEntries(members), { requiredKeys: [] });
  }
  if (typeof additionalProperties !== 'object') return fc.constant({});
  return fc.dictionary(fc.constantFrom('a', 'b/c', ''), anyOf(additionalProperties, depth - 1), {
    maxKeys: 2,
  });
}

function newCluster(): EmbeddedCluster {
  const store = new ObjectStore();
  const cluster = new EmbeddedCluster(systemClock, store);
  cluster.serve(builtInResources(store, network, seededRandom(1), systemClock));
  cluster.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } });
  return cluster;
}

const definitions = newCluster().definitions();

describe('arbitrary objects', () => {
  test.each(definitions.map((definition) => [groupResource(definition), definition] as const))(
    '%s are created, updated or rejected, and printed',
    (resource, definition) => {
      const schema = builtInSchema(definition) ?? {};
      const members = anyOf(schema, 5);
      fc.assert(
        fc.property(members, members, (given, change) => {
          const cluster = newCluster();
          const namespace = definition.namespaced ? { namespace: 'x' } : {};
          const identity = {
            apiVersion: apiVersionOf(definition),
            kind: definition.kind,
            metadata: { name: 'any', ...namespace },
          };
          const attempt = (write: () => KubeObject) => {
            try {
              return write();
            } catch (error) {
              // An ApiError is a valid response; any other error is a bug.
              expect(error).toBeInstanceOf(ApiError);
              expect((error as ApiError).reason).not.toBe('InternalError');
              return undefined;
            }
          };
          const made = attempt(() => cluster.create(resource, { ...asObject(given), ...identity }));
          if (made === undefined) return;
          for (const column of definition.columns) column.cell(made, 0);
          definition.fieldLabels(made);
          const draft = { ...asObject(change), ...identity, metadata: made.metadata };
          attempt(() => cluster.update(resource, draft));
          attempt(() => cluster.update(resource, draft, { subresource: 'status' }));
        }),
        { numRuns: 60 },
      );
    },
  );
});
