import { z } from 'zod';
import type { Schema } from '@causeway/kubernetes/objects/schema';

const anyJson = z.unknown();
const count = z.int();

const validationRule = z.object({
  rule: z.string(),
  message: z.string().optional(),
  messageExpression: z.string().optional(),
  reason: z.string().optional(),
  fieldPath: z.string().optional(),
  optionalOldSelf: z.boolean().optional(),
});

const schemaSyntax: z.ZodType = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    format: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    default: anyJson.optional(),
    example: anyJson.optional(),
    enum: z.array(anyJson).optional(),
    maximum: z.number().optional(),
    exclusiveMaximum: z.boolean().optional(),
    minimum: z.number().optional(),
    exclusiveMinimum: z.boolean().optional(),
    multipleOf: z.number().optional(),
    maxLength: count.optional(),
    minLength: count.optional(),
    pattern: z.string().optional(),
    maxItems: count.optional(),
    minItems: count.optional(),
    uniqueItems: z.boolean().optional(),
    maxProperties: count.optional(),
    minProperties: count.optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), schemaSyntax).optional(),
    additionalProperties: z.union([z.boolean(), schemaSyntax]).optional(),
    items: schemaSyntax.optional(),
    allOf: z.array(schemaSyntax).optional(),
    anyOf: z.array(schemaSyntax).optional(),
    oneOf: z.array(schemaSyntax).optional(),
    not: schemaSyntax.optional(),
    'x-kubernetes-embedded-resource': z.boolean().optional(),
    'x-kubernetes-int-or-string': z.boolean().optional(),
    'x-kubernetes-list-map-keys': z.array(z.string()).optional(),
    'x-kubernetes-list-type': z.string().optional(),
    'x-kubernetes-map-type': z.string().optional(),
    'x-kubernetes-preserve-unknown-fields': z.boolean().optional(),
    'x-kubernetes-validations': z.array(validationRule).optional(),
  }),
);

/** Parses the schema of a CustomResourceDefinition. Throws if a keyword has a value of the wrong type. */
export function parseSchema(value: unknown): Schema {
  return schemaSyntax.parse(value) as Schema;
}

/** The schema of an object's member, or undefined if the schema doesn't define it. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const own = schema?.properties;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  const rest = schema?.additionalProperties;
  return typeof rest === 'object' ? rest : undefined;
}
