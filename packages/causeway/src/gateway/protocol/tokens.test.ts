import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { parseSecrets } from './secrets.ts';
import { checkBinding, digestOf, ReplayGuard, signRequest, verifyToken } from './tokens.ts';

const now = 1_800_000_000_000;
const old = Buffer.from('the old shared secret');
const fresh = Buffer.from('the new shared secret');
const binding = { audience: 'gateway-1', method: 'PUT', path: '/v2/state' };

function v1Token(claims: object, secret = old, algorithm = 'HS256'): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm }).sign(secret);
}

describe('a token', () => {
  test('is accepted with any of the configured secrets, so that they can be rotated', async () => {
    for (const secret of [old, fresh]) {
      const token = await v1Token({ exp: now / 1000 + 15 }, secret);
      await expect(verifyToken(token, [fresh, old], now)).resolves.toHaveProperty('exp');
    }
    const token = await v1Token({ exp: now / 1000 + 15 }, old);
    await expect(verifyToken(token, [fresh], now)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test.each([
    [
      'has expired',
      () => v1Token({ exp: now / 1000 - 6 }),
      'expired 6 s ago, or the clocks of the two machines differ',
    ],
    ['has no expiry', () => v1Token({}), 'no expiry'],
    ['lives for hours', () => v1Token({ exp: now / 1000 + 7200 }), 'longer'],
    [
      'is signed with another algorithm',
      () => v1Token({ exp: now / 1000 + 15 }, Buffer.alloc(64, 1), 'HS512'),
      'HS256',
    ],
    ['is malformed', () => Promise.resolve('a.b.c'), 'not a token'],
    [
      'is unsigned',
      () => Promise.resolve(`${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`),
      'HS256',
    ],
  ])('that %s is rejected', async (_name, make, message) => {
    await expect(verifyToken(await make(), [old], now)).rejects.toThrow(message);
  });

  test.each([
    ['another agent', { ...binding, audience: 'gateway-2' }, 'another agent'],
    ['another path', { ...binding, path: '/v2/undo' }, 'another request'],
    ['another method', { ...binding, method: 'PATCH' }, 'another request'],
  ])('for %s is rejected', async (_name, other, message) => {
    const token = await signRequest(old, binding, digestOf(''), now);
    const claims = await verifyToken(token, [old], now);
    expect(() => checkBinding(claims, other)).toThrow(message);
    expect(checkBinding(claims, binding).body).toBe(digestOf(''));
  });

  test('works once, and not at all if it is older than the agent', async () => {
    const token = await signRequest(old, binding, '', now);
    const claims = checkBinding(await verifyToken(token, [old], now), binding);
    const guard = new ReplayGuard(now - 1000);
    guard.use(claims, now);
    expect(() => guard.use(claims, now + 1000)).toThrow('used before');
    expect(() => new ReplayGuard(now + 1).use(claims, now + 1)).toThrow(
      'before this agent started',
    );
  });

  test('works after the clock was set back behind the start of the agent', async () => {
    const guard = new ReplayGuard(now + 7_200_000);
    const make = async (at: number) =>
      checkBinding(await verifyToken(await signRequest(old, binding, '', at), [old], at), binding);
    const early = await make(now - 1000);
    expect(() => guard.use(early, now)).toThrow('before this agent started');
    const later = await make(now + 1);
    guard.use(later, now + 2);
    expect(() => guard.use(later, now + 3)).toThrow('used before');
  });

  test('is dropped after its expiry, so that memory is bounded', async () => {
    const guard = new ReplayGuard(0, 1);
    const first = await signRequest(old, binding, '', now);
    guard.use(checkBinding(await verifyToken(first, [old], now), binding), now);
    const second = await signRequest(old, binding, '', now + 30_000);
    const claims = checkBinding(await verifyToken(second, [old], now + 30_000), binding);
    expect(() => guard.use(claims, now)).toThrow('too many');
    expect(() => guard.use(claims, now + 30_000)).not.toThrow();
  });
});

describe('shared secrets', () => {
  test('are base64 lines, the first for signing', () => {
    const text = `\n${fresh.toString('base64')}\n ${old.toString('base64')}\n`;
    expect(parseSecrets(text)).toEqual([fresh, old]);
  });

  test.each(['', 'not base64!', Buffer.from('short').toString('base64')])(
    '%j is rejected',
    (text) => {
      expect(() => parseSecrets(text)).toThrow();
    },
  );
});
