import { z } from 'zod';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { problemSchema } from './problem.ts';

type Json = Record<string, unknown>;

/** The API in OpenAPI 3.1, generated from the definitions that the server uses. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, {
      [operation.method.toLowerCase()]: describeOperation(name, operation),
    });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway shared address management',
      version: '1.0',
      description: 'One pool of addresses for many clusters. Fields are only ever added.',
    },
    security: [{ token: [] }, { certificate: [] }],
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        certificate: { type: 'mutualTLS' },
      },
      schemas: { Problem: schemaOf(problemSchema, 'output') },
    },
    paths,
  };
}

const access = {
  operator: 'Requires an operator.',
  cluster: 'Requires the cluster’s own credential, or an operator.',
  site: 'Requires a credential of the site.',
};

function describeOperation(name: string, operation: Operation): Json {
  const body = schemaOf(operation.body, 'input');
  const takesBody = Object.keys(body['properties'] ?? {}).length > 0;
  return {
    operationId: name,
    summary: operation.summary,
    description: access[operation.access],
    parameters: [
      ...parametersOf(operation.params, 'path'),
      ...parametersOf(operation.query, 'query'),
    ],
    ...(takesBody
      ? { requestBody: { required: true, content: { 'application/json': { schema: body } } } }
      : {}),
    responses: {
      200: {
        description: 'Done.',
        content: { 'application/json': { schema: schemaOf(operation.answer, 'output') } },
      },
      ...(name === 'reserve' || name === 'ensureLoadBalancer'
        ? { 202: { description: 'Waiting; ask again to keep the place.' } }
        : {}),
      default: {
        description: 'Not done; the body says why and what to do.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function parametersOf(schema: z.ZodType, where: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    return { name, in: where, required: required.includes(name), schema: property };
  });
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
