import { describe, expect, test } from 'vitest';
import { builtInSchema } from './built-in-schemas.ts';
import { decodeAs } from './decode.ts';

const service = builtInSchema({ group: '', version: 'v1', kind: 'Service' });
const definition = builtInSchema({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
});
if (service === undefined || definition === undefined) throw new Error('the schemas are missing');

describe('decodeAs', () => {
  test('drops and reports fields that the kind does not define', () => {
    const { object, unknownFields } = decodeAs(service, {
      kind: 'Service',
      spec: { colour: 'red', ports: [{ port: 80, tone: 1 }], selector: { any: 'key' } },
    });
    expect(object).toEqual({
      kind: 'Service',
      spec: { ports: [{ port: 80 }], selector: { any: 'key' } },
    });
    expect(unknownFields).toEqual(['spec.colour', 'spec.ports[0].tone']);
  });

  test('drops nulls and empty optional lists and maps, and keeps empty structures', () => {
    const { object } = decodeAs(service, {
      metadata: { labels: {}, annotations: null, name: 'x' },
      spec: { ports: [], sessionAffinityConfig: {} },
      status: { loadBalancer: {} },
    });
    expect(object).toEqual({
      metadata: { name: 'x' },
      spec: { sessionAffinityConfig: {} },
      status: { loadBalancer: {} },
    });
  });

  test.each([
    [{ spec: { ports: 'x' } }, 'ServiceSpec.spec.ports of type slice'],
    [
      { spec: { ports: [{ port: '80' }] } },
      'string into Go struct field ServicePort.spec.ports.port of type int32',
    ],
    [{ spec: { ports: [{ port: 1.5 }] } }, 'number 1.5'],
    [{ spec: { ports: [{ port: 80, targetPort: true }] } }, 'spec.ports.targetPort'],
    [{ metadata: { labels: { a: 1 } } }, 'metadata.labels.a of type string'],
  ])('reports a mismatch for %j', (value, complaint) => {
    expect(decodeAs(service, value).mismatches.join('\n')).toContain(complaint);
  });

  test('follows schemas that refer to themselves', () => {
    const deep = {
      properties: { a: { items: { anything: 1 }, properties: { b: { type: 'string' } } } },
    };
    const spec = { versions: [{ name: 'v1', schema: { openAPIV3Schema: deep } }] };
    expect(decodeAs(definition, { spec })).toEqual({
      object: { spec },
      unknownFields: [],
      mismatches: [],
    });
  });
});
