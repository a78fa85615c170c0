import { createHash, randomUUID } from 'node:crypto';
import { compactVerify, decodeProtectedHeader, SignJWT } from 'jose';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';

// HS256 tokens. In `/v1`, the token contains the configuration. In `/v2`, each request has a token that is
// bound to one agent, one method and path, and one body.

/** Largest clock difference between two machines. */
export const clockSkewSeconds = 5;
export const longestLifetimeSeconds = 120;

const registeredClaims = z.looseObject({ exp: z.number() });

const clocks = 'or the clocks of the two machines differ';
const clockHint = `The clocks may differ by ${clockSkewSeconds} s. Compare them, and check their time service.`;

/** Checks the expiry, and the signature against every accepted secret. Returns the claims. */
export async function verifyToken(
  token: string,
  secrets: readonly Uint8Array[],
  nowMs: number,
): Promise<Record<string, unknown> & { exp: number }> {
  const claims = registeredClaims.safeParse(await verifiedPayload(token, secrets));
  if (!claims.success) throw unauthorized('the token has no expiry');
  const { exp } = claims.data;
  const now = nowMs / 1000;
  if (exp <= now - clockSkewSeconds) {
    throw unauthorized(`the token expired ${Math.round(now - exp)} s ago, ${clocks}`, clockHint);
  }
  if (exp > now + longestLifetimeSeconds + clockSkewSeconds) {
    const lifetime = `the token's lifetime is longer than ${longestLifetimeSeconds} s`;
    throw unauthorized(`${lifetime}, ${clocks}`, clockHint);
  }
  return claims.data;
}

async function verifiedPayload(token: string, secrets: readonly Uint8Array[]): Promise<unknown> {
  let algorithm: string | undefined;
  try {
    algorithm = decodeProtectedHeader(token).alg;
  } catch {
    throw unauthorized('this is not a token');
  }
  if (algorithm !== 'HS256') throw unauthorized('the token is not signed with HS256');
  for (const secret of secrets) {
    try {
      const { payload } = await compactVerify(token, secret, { algorithms: ['HS256'] });
      return JSON.parse(Buffer.from(payload).toString()) as unknown;
    } catch {
      // Another secret, or a broken payload. The next secret is tried.
    }
  }
  throw unauthorized(
    "the token's signature is wrong",
    'Check that both sides have the same secret.',
  );
}

/** The request that a `/v2` token is valid for. */
export interface RequestBinding {
  /** The agent's name. */
  readonly audience: string;
  readonly method: string;
  readonly path: string;
}

const requestClaims = z.object({
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  jti: z.string().min(1).max(64),
  request: z.string(),
  body: z.string(),
});

export type RequestClaims = z.infer<typeof requestClaims>;

/**
 * Checks that a verified token was made for this request. The body's digest is checked when the body is read.
 */
export function checkBinding(claims: unknown, binding: RequestBinding): RequestClaims {
  const parsed = requestClaims.safeParse(claims);
  if (!parsed.success) throw unauthorized('the token lacks a claim that /v2 needs');
  if (parsed.data.aud !== binding.audience) {
    throw unauthorized('the token is for another agent');
  }
  if (parsed.data.request !== `${binding.method} ${binding.path}`) {
    throw unauthorized('the token is for another request');
  }
  return parsed.data;
}

/** Signs the token for one request. */
export function signRequest(
  secret: Uint8Array,
  binding: RequestBinding,
  bodyDigest: string,
  nowMs: number,
): Promise<string> {
  const now = Math.floor(nowMs / 1000);
  return new SignJWT({
    aud: binding.audience,
    iat: nowMs / 1000,
    exp: now + 15,
    jti: randomUUID(),
    request: `${binding.method} ${binding.path}`,
    body: bodyDigest,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(secret);
}

export function digestOf(body: Uint8Array | string): string {
  return createHash('sha256').update(body).digest('base64url');
}

/**
 * Stores used tokens until they expire. Rejects tokens that were made before this process started, because
 * they may have been used. A rejected client makes a new token.
 */
export class ReplayGuard {
  #startedMs: number;
  readonly #limit: number;
  readonly #used = new Map<string, number>();

  constructor(startedMs: number, limit = 100_000) {
    this.#startedMs = startedMs;
    this.#limit = limit;
  }

  use(claims: RequestClaims, nowMs: number): void {
    // The clock was set back: only tokens made after this moment count as made after the start.
    if (nowMs < this.#startedMs) this.#startedMs = nowMs;
    if (claims.iat * 1000 < this.#startedMs) {
      throw unauthorized('the token was made before this agent started', 'Send the request again.');
    }
    this.#deleteExpired(nowMs);
    if (this.#used.has(claims.jti)) throw unauthorized('the token was used before');
    if (this.#used.size >= this.#limit) {
      throw new CausewayError('exhausted', 'too many requests within the lifetime of a token');
    }
    this.#used.set(claims.jti, claims.exp);
  }

  /** Expiries are only roughly in the order of use. The loop stops at the first token that is still valid. */
  #deleteExpired(nowMs: number): void {
    for (const [id, exp] of this.#used) {
      if (exp + clockSkewSeconds > nowMs / 1000) return;
      this.#used.delete(id);
    }
  }
}

function unauthorized(message: string, hint?: string): CausewayError {
  return new CausewayError('unauthorized', message, hint === undefined ? {} : { hint });
}
