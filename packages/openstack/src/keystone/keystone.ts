import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { Credentials, Scope } from '../config/cloud-config.ts';
import { OpenStackError } from '../error.ts';
import type { OpenStackMetrics } from '../metrics.ts';
import type { Requester } from '../requester.ts';
import { readJson } from '../response.ts';
import { route } from '../route.ts';
import { Secret } from '../secret.ts';
import type { HttpResponse } from '../transport.ts';
import { authRequest } from './auth-request.ts';
import { parseEndpoint } from './endpoint.ts';
import { parseToken, type Token } from './token.ts';

export interface KeystoneParts {
  readonly authUrl: string;
  readonly requester: Requester;
  readonly clock: Clock;
  readonly metrics: OpenStackMetrics;
}

/** The part of Keystone v3 that issues tokens. */
export class Keystone {
  readonly #parts: KeystoneParts;
  readonly #base: string;

  constructor(parts: KeystoneParts) {
    this.#parts = parts;
    this.#base = parseEndpoint('identity', parts.authUrl).base;
  }

  /**
   * Gets a token. Keystone refuses wrong credentials and an inaccessible project alike. A second request
   * without the project distinguishes them: wrong credentials are fatal.
   */
  async issue(credentials: Credentials, scope: Scope, signal: AbortSignal): Promise<Token> {
    const { tokens } = this.#parts.metrics;
    try {
      const token = await this.#post(credentials, scope, signal);
      tokens.add({ outcome: 'issued' });
      return token;
    } catch (error) {
      if (!isRefusal(error)) {
        tokens.add({ outcome: 'failed' });
        throw error;
      }
      if (scope.kind === 'unscoped' || scope.kind === 'as-issued') {
        tokens.add({ outcome: 'invalid-credentials' });
        throw invalidCredentials(error);
      }
      await this.issue(credentials, { kind: 'unscoped' }, signal);
      throw scopeRefused(error, scope);
    }
  }

  /** A token for a project from an unscoped token. Undefined if Keystone refuses. */
  async rescope(parent: Token, projectId: string, signal: AbortSignal): Promise<Token | undefined> {
    const { tokens } = this.#parts.metrics;
    const scope: Scope = { kind: 'project', project: { id: projectId } };
    try {
      const token = await this.#post({ method: 'token', token: parent.value }, scope, signal);
      tokens.add({ outcome: 'issued' });
      return token;
    } catch (error) {
      tokens.add({ outcome: 'failed' });
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  #post(credentials: Credentials, scope: Scope, signal: AbortSignal): Promise<Token> {
    const { requester, clock } = this.#parts;
    const { body, secrets } = authRequest(credentials, scope);
    const askedAt = clock.monotonic();
    return requester.perform(
      {
        service: 'identity',
        method: 'POST',
        base: this.#base,
        route: route`/auth/tokens`,
        body,
        secrets,
        // A second token does no harm.
        repeatable: 'yes',
        read: (response) => readToken(response, askedAt),
      },
      signal,
    );
  }
}

async function readToken(response: HttpResponse, askedAt: number): Promise<Token> {
  const value = response.header('x-subject-token');
  if (value === undefined) {
    await response.discard();
    throw new CausewayError('unavailable', 'Keystone answered without a token', {
      hint: 'Is the address that of Keystone itself, without a login page in front?',
    });
  }
  const date = Date.parse(response.header('date') ?? '');
  const serverTime = Number.isNaN(date) ? undefined : date;
  return readJson(response, (body) => parseToken(new Secret(value), body, askedAt, serverTime));
}

/**
 * Keystone itself refuses the login: a wrong password with 401, an unknown token or application credential
 * with 404. A proxy or a wrong address answers in another form.
 */
function isRefusal(error: unknown): error is OpenStackError {
  if (!(error instanceof OpenStackError)) return false;
  return error.isKeystoneRefusal && (error.status === 401 || error.status === 404);
}

function invalidCredentials(error: OpenStackError): OpenStackError {
  return new OpenStackError('unauthorized', `Keystone refuses the credentials: ${error.message}`, {
    service: 'identity',
    outcome: 'refused',
    invalidCredentials: true,
    cause: error,
    hint: 'Correct the user, the password or the application credential; retrying will not help.',
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    ...(error.serviceMessage === undefined ? {} : { serviceMessage: error.serviceMessage }),
  });
}

function scopeRefused(error: OpenStackError, scope: Scope): OpenStackError {
  return new OpenStackError(
    'forbidden',
    `the credentials are valid, but not for this ${scope.kind}: ${error.message}`,
    {
      service: 'identity',
      outcome: 'refused',
      ...(error.status === undefined ? {} : { status: error.status }),
      cause: error,
      hint: `Check the name of the ${scope.kind} and its domain, and that the user has a role in it.`,
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    },
  );
}
