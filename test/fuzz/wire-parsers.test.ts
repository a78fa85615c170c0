import fc from 'fast-check';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  readAcknowledgement,
  readCounters,
  readRefusal,
  readStatus,
  readTrace,
} from '../../packages/causeway/src/gateway/protocol/answers.ts';
import { errorReply } from '../../packages/causeway/src/gateway/agent/api/reply.ts';
import { parseSecrets } from '../../packages/causeway/src/gateway/protocol/secrets.ts';
import { verifyToken } from '../../packages/causeway/src/gateway/protocol/tokens.ts';
import { parseNotification } from '../../packages/causeway/src/gateway/agent/announce/keepalived/notify.ts';
import { readStoredJson } from '../../packages/causeway/src/gateway/agent/store/stored-json.ts';
import { StepReader } from '../../packages/causeway/src/gateway/agent/store/change-lines.ts';
import { UpdateReader, type Update } from '../../packages/causeway/src/gateway/protocol/update.ts';
import { readV1Config } from '../../packages/causeway/src/gateway/protocol/v1.ts';
import type { TraceAnswer } from '../../packages/causeway/src/gateway/protocol/trace.ts';
import { tryParseAddress } from '../../packages/base/src/address/address.ts';
import { readFields } from '../../packages/causeway/src/ipam/etcd/protobuf.ts';
import {
  decodeRangeResponse,
  decodeToken,
  decodeTransactionResponse,
  decodeWatchResponse,
} from '../../packages/causeway/src/ipam/etcd/messages.ts';
import { presentToken } from '../../packages/causeway/src/ipam/credential.ts';
import { describeTraces } from '../../packages/causeway/src/console/overview/trace-text.ts';
import {
  attempt,
  attemptAsync,
  hostileBytes,
  hostileJson,
  hostileText,
  nearly,
  nearlyBytes,
  nearlyText,
} from './hostile.ts';
import { z } from 'zod';

const header = { causeway: 'agent/v2', revision: 2, kind: 'state', generation: 7 };
const records = [
  {
    frontend: {
      address: '192.0.2.1',
      protocol: 'TCP',
      port: 80,
      service: 'shop/web',
      destinations: [{ address: '10.0.0.1', port: 8080, weight: 2 }],
      affinity: 'client',
      sourceRanges: ['198.51.100.0/24'],
      masquerade: 'always',
    },
  },
  { frontend: { address: '2001:db8::1', protocol: 'UDP', port: 53, routedTo: ['2001:db8::2'] } },
  {
    policy: {
      namespace: 'shop',
      name: 'web',
      ingress: [
        {
          from: [{ cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }],
          ports: [{ protocol: 'TCP', port: 80, endPort: 90 }],
        },
      ],
    },
  },
  {
    assignment: {
      address: '10.0.0.1',
      policies: [{ namespace: 'shop', name: 'web' }],
      namedPorts: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    },
  },
  { node: { address: '10.1.0.1' } },
];
const wholePush = [header, ...records, { end: { records: records.length } }];

function push(lines: readonly unknown[]): Update | undefined {
  return attempt(() => {
    const reader = new UpdateReader();
    for (const line of lines) reader.line(typeof line === 'string' ? line : JSON.stringify(line));
    return reader.result();
  });
}

describe('the agent', () => {
  test('accepts only the valid frontends of any update, and says what is wrong with the rest', () => {
    const lines = fc.oneof(
      fc.array(hostileJson, { maxLength: 8 }),
      nearly(wholePush).map((value) => (Array.isArray(value) ? (value as unknown[]) : [value])),
      nearlyText(wholePush.map((line) => JSON.stringify(line)).join('\n')).map((text) =>
        text.split('\n'),
      ),
    );
    fc.assert(
      fc.property(lines, (some) => {
        const taken = push(some.filter((line) => line !== undefined));
        for (const { address, port, destinations } of taken?.frontends.values() ?? []) {
          expect(tryParseAddress(address)).toBe(address);
          expect(port).toBeGreaterThan(0);
          expect(port).toBeLessThan(65_536);
          for (const each of destinations) expect(tryParseAddress(each.address)).toBe(each.address);
        }
        for (const { message } of taken?.complaints ?? []) {
          expect(message).toMatch(/^[\x20-\x7e]{1,400}$/);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('accepts the valid update that the others are derived from', () => {
    expect(push(wholePush)).toMatchObject({ complaints: [] });
  });

  test.each(['\u007fendpoint', '\u009b2J', 'x'.repeat(5_000)])(
    'rejects a record of the kind %j with a short printable message',
    (kind) => {
      const lines = [header, { [kind]: {} }, { end: { records: 1 } }];
      expect(push(lines)?.complaints[0]?.message).toMatch(/^[\x20-\x7e]{1,400}$/);
    },
  );

  test('answers any error with printable text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const { status, body } = errorReply(new Error(text));
        expect(status).toBeGreaterThanOrEqual(400);
        expect(JSON.stringify(body)).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });

  test('accepts a configuration of ch-k8s-lbaas as a whole or not at all', () => {
    const valid = {
      ingress: [
        {
          address: '192.0.2.1',
          ports: [
            {
              protocol: 'TCP',
              'inbound-port': 80,
              'destination-port': 8080,
              'destination-addresses': ['10.0.0.1'],
            },
          ],
        },
      ],
      'network-policies': [{ name: 'web', 'allowed-ingresses': [] }],
      'policy-assignments': [{ address: '10.0.0.1', 'network-policies': ['web'] }],
    };
    expect(readV1Config(valid, 1, 'always').frontends.size).toBe(1);
    fc.assert(
      fc.property(fc.oneof(hostileJson, nearly(valid)), (claim) => {
        attempt(() => {
          try {
            const { frontends } = readV1Config(claim, 1, 'always');
            for (const { address } of frontends.values()) {
              expect(tryParseAddress(address)).toBe(address);
            }
          } catch (thrown) {
            // The API answers these with its own messages.
            if (!(thrown instanceof z.ZodError)) throw thrown;
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  test('reads nothing from its own damaged files, and names them', () => {
    const schema = z.strictObject({ frozen: z.object({ since: z.number() }).optional() });
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText('{"frozen":{"since":1}}')), (text) => {
        attempt(() => readStoredJson('overrides.json', text, schema));
      }),
    );
  });

  test('reads no step from lines that it did not write', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(hostileText, hostileJson), { maxLength: 5 }), (lines) => {
        const reader = new StepReader();
        for (const line of lines) {
          // The reader of the file says where it is damaged, whatever was thrown.
          try {
            expect(reader.line(typeof line === 'string' ? line : JSON.stringify(line))).toBe(
              undefined,
            );
          } catch {
            return;
          }
        }
      }),
    );
  });

  test('accepts only known states from keepalived', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText('GROUP "gateway" MASTER')), (line) => {
        const state = parseNotification(line, 'GROUP "gateway"');
        expect([undefined, 'MASTER', 'BACKUP', 'FAULT', 'STOP']).toContain(state);
      }),
    );
  });

  test('rejects a shared secret that is not long and base64', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText(`${'A'.repeat(40)}\n`)), (text) => {
        for (const secret of attempt(() => parseSecrets(text)) ?? []) {
          expect(secret.length).toBeGreaterThanOrEqual(12);
        }
      }),
    );
  });

  test('rejects a token that is not signed with its secret, or has another algorithm', async () => {
    const secret = Buffer.from('a secret of enough bytes');
    const now = 1_700_000_000_000;
    const sign = (exp: number, key: Uint8Array, alg = 'HS256') =>
      new SignJWT({ exp }).setProtectedHeader({ alg }).sign(key);
    const good = await sign(now / 1000 + 60, secret);
    await expect(verifyToken(good, [secret], now)).resolves.toMatchObject({});
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = base64({ exp: now / 1000 + 60 });
    const wrong = [
      `${base64({ alg: 'none' })}.${claims}.`,
      `${base64({ alg: 'None' })}.${claims}.${good.split('.')[2]}`,
      `${base64({ alg: 'HS256', crit: ['exp'], exp: 1 })}.${claims}.${good.split('.')[2]}`,
      `${base64({ alg: 'RS256' })}.${claims}.${good.split('.')[2]}`,
      await sign(now / 1000 + 60, Buffer.from('another secret, of others')),
      await sign(now / 1000 + 60, Buffer.alloc(64), 'HS512'),
      await sign(now / 1000 - 60, secret),
      await sign(now / 1000 + 86_400, secret),
      await sign(Number.MAX_SAFE_INTEGER, secret),
      await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(secret),
      `${good}.${good}`,
      'x'.repeat(1_000_000),
      `${'A'.repeat(500_000)}.${'B'.repeat(500_000)}.C`,
    ];
    for (const token of wrong) {
      await expect(verifyToken(token, [secret], now)).rejects.toMatchObject({
        code: 'unauthorized',
      });
    }
    const somewhere = fc.oneof(hostileText, nearlyText(good)).filter((text) => text !== good);
    await fc.assert(
      fc.asyncProperty(somewhere, async (token) => {
        const verified = await attemptAsync(() => verifyToken(token, [secret], now));
        // Unused bits of the signature's last character may differ.
        if (verified !== undefined) expect(token.slice(0, -1)).toBe(good.slice(0, -1));
      }),
      { numRuns: 150 },
    );
  });
});

describe('the controller', () => {
  const status = {
    agent: 'g1',
    version: '0.1.0',
    revisions: { oldest: 1, newest: 2 },
    generation: 5,
    frontends: 1,
    older: [{ address: '192.0.2.1', protocol: 'TCP', port: 80, generation: 4, reason: 'x' }],
    errors: [{ frontend: null, errors: [{ record: 1, message: 'x' }] }],
    notFailoverSafe: [],
    sound: true,
    announcer: { role: 'active', since: null, reason: null },
    frozen: null,
    drained: { since: 1, reason: 'x' },
    removal: null,
    undoSteps: 0,
    unhealthy: { heard: 1, seen: ['10.0.0.1'], acted: [] },
    alarms: [],
    kernelSettings: [],
    connections: { count: 1, limit: 2 },
  };
  const acknowledgement = { generation: 1, committed: true, older: status.older, errors: [] };

  const trace = {
    outcome: 'forwarded',
    because: 'x',
    servedAs: '192.0.2.1:80/TCP',
    others: ['x'],
    destination: '10.0.0.1:80',
    isSourceKept: true,
    unhealthy: ['y'],
    steps: [{ chain: 'services', rule: 'accept' }],
  };
  const nearlyAnswers = [status, acknowledgement, trace].map(nearly);
  /** The output of `causeway trace`. */
  const expectPrintable = (answer: TraceAnswer) => {
    const gateway = 'g1';
    const path = { gateway, role: 'active', ability: 'able', cause: undefined } as const;
    for (const line of describeTraces([{ gateway, path, answer }], [])) {
      // oxlint-disable-next-line no-control-regex
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
  };

  test('accepts only answers of the right form from a gateway', () => {
    expect(readStatus(status)).toEqual(status);
    expect(readAcknowledgement(acknowledgement)).toEqual(acknowledgement);
    expect(readTrace(trace)).toEqual(trace);
    fc.assert(
      fc.property(fc.oneof(hostileJson, ...nearlyAnswers), (value) => {
        const taken = attempt(() => readStatus(value));
        if (taken !== undefined) {
          expect(taken.generation).toBeLessThanOrEqual(2 ** 52);
          expect(taken.unhealthy.seen.every((text) => typeof text === 'string')).toBe(true);
          expect(Array.isArray(taken.older)).toBe(true);
        }
        attempt(() => readAcknowledgement(value));
        attempt(() => readCounters(value));
        const answer = attempt(() => readTrace(value));
        if (answer !== undefined) expectPrintable(answer);
        expect(['undefined', 'string']).toContain(typeof readRefusal(value).message);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the allocator', () => {
  test('recognizes a token by its form alone', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(presentToken(text)).toBe(undefined);
      }),
    );
  });

  test('reads complete messages from etcd or none', () => {
    const readers = [decodeRangeResponse, decodeTransactionResponse, decodeWatchResponse];
    // A response with a header, an entry and a flag.
    const valid = Buffer.from('0a0608011801200112090a016b18052a01760018011801', 'hex');
    fc.assert(
      fc.property(fc.oneof(hostileBytes, nearlyBytes(valid)), (bytes) => {
        for (const decode of [...readers, decodeToken])
          attempt(() => decode(bytes), ['unavailable']);
        let end = 0;
        attempt(() => {
          for (const { value, bytes: content } of readFields(bytes)) {
            expect(Number.isNaN(value)).toBe(false);
            end += content.length;
          }
          expect(end).toBeLessThanOrEqual(bytes.length);
        }, ['unavailable']);
      }),
      { numRuns: 500 },
    );
  });

  test('rejects a number that never ends, of any length', () => {
    const endless = Buffer.concat([Buffer.alloc(1000, 0x80), Buffer.from([0x01])]);
    expect(() => [...readFields(endless)]).toThrow('malformed protobuf');
    const size = Buffer.concat([Buffer.from([0x0a]), Buffer.alloc(200, 0x80), Buffer.from([0])]);
    expect(() => [...readFields(size)]).toThrow('malformed protobuf');
  });
});
