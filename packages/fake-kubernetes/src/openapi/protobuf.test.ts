import { describe, expect, test } from 'vitest';
import { decodeProtobuf } from './protobuf.ts';

/**
 * Encoders for the messages of `kubectl create service nodeport web --tcp=80:8080` and `create namespace`.
 */
const length = (content: Buffer) => Buffer.concat([Buffer.from([content.length]), content]);
const bytes = (number: number, content: Buffer | string) =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), length(Buffer.from(content))]);
const integer = (number: number, value: number) => Buffer.from([number << 3, value]);
const envelope = (apiVersion: string, kind: string, ...fields: Buffer[]) =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    bytes(1, Buffer.concat([bytes(1, apiVersion), bytes(2, kind)])),
    bytes(2, Buffer.concat(fields)),
  ]);

describe('decodeProtobuf', () => {
  test('reads structures, lists, maps and unions, and leaves out unset fields', () => {
    const port = Buffer.concat([
      ...[bytes(1, ''), bytes(2, 'TCP'), integer(3, 80)],
      ...[bytes(4, Buffer.concat([integer(1, 1), integer(2, 0), bytes(3, 'http')])), integer(5, 0)],
    ]);
    const selector = Buffer.concat([bytes(1, 'app'), bytes(2, 'web')]);
    const spec = Buffer.concat([
      bytes(1, port),
      bytes(2, selector),
      bytes(3, ''),
      bytes(4, 'NodePort'),
    ]);
    const metadata = Buffer.concat([bytes(1, 'web'), bytes(2, ''), bytes(8, '')]);
    expect(decodeProtobuf(envelope('v1', 'Service', bytes(1, metadata), bytes(2, spec)))).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: {
        ports: [{ protocol: 'TCP', port: 80, targetPort: 'http' }],
        selector: { app: 'web' },
        type: 'NodePort',
      },
    });
  });

  test('keeps an explicit zero and reads inlined structures', () => {
    const claim = bytes(3, bytes(1, '/data'));
    const volume = Buffer.concat([bytes(1, 'v'), bytes(2, claim)]);
    const template = bytes(2, bytes(1, volume));
    const spec = Buffer.concat([integer(1, 0), bytes(3, template)]);
    expect(decodeProtobuf(envelope('apps/v1', 'Deployment', bytes(2, spec)))).toMatchObject({
      spec: { replicas: 0, template: { spec: { volumes: [{ name: 'v' }] } } },
    });
  });

  test.each([
    ['a body without an envelope', Buffer.from('{"kind":"Service"}')],
    ['a truncated field', Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, 0x7f])])],
    ['an unterminated number', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(12, 0xff)])],
  ])('rejects %s', (_, body) => {
    expect(() => decodeProtobuf(body)).toThrow('malformed');
  });

  test("names the kinds that it can't read", () => {
    expect(() => decodeProtobuf(envelope('v1', 'Nonsense'))).toThrow(
      'Nonsense in v1 is read as JSON',
    );
  });
});
