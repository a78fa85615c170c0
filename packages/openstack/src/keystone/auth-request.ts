import type { Credentials, Scope } from '../config/cloud-config.ts';
import type { Secret } from '../secret.ts';

/** The body of POST /v3/auth/tokens, with the secrets that it holds. */
export interface AuthRequest {
  readonly body: unknown;
  readonly secrets: readonly Secret[];
}

export function authRequest(credentials: Credentials, scope: Scope): AuthRequest {
  const { identity, secrets } = identityOf(credentials);
  const wanted = scopeBody(scope);
  return {
    body: { auth: { identity, ...(wanted === undefined ? {} : { scope: wanted }) } },
    secrets,
  };
}

function identityOf(credentials: Credentials): { identity: unknown; secrets: readonly Secret[] } {
  if (credentials.method === 'password') {
    const user = { ...credentials.user, password: credentials.password.reveal() };
    const identity = { methods: ['password'], password: { user } };
    return { identity, secrets: [credentials.password] };
  }
  if (credentials.method === 'application-credential') {
    const credential = { ...credentials.credential, secret: credentials.secret.reveal() };
    const identity = {
      methods: ['application_credential'],
      application_credential: credential,
    };
    return { identity, secrets: [credentials.secret] };
  }
  const identity = { methods: ['token'], token: { id: credentials.token.reveal() } };
  return { identity, secrets: [credentials.token] };
}

const scopeBodies: { [Kind in Scope['kind']]: (scope: Extract<Scope, { kind: Kind }>) => unknown } =
  {
    // Explicit, because a user with a default project would otherwise get a token for that project.
    unscoped: () => 'unscoped',
    'as-issued': () => undefined,
    project: (scope) => ({ project: scope.project }),
    domain: (scope) => ({ domain: scope.domain }),
    system: () => ({ system: { all: true } }),
  };

function scopeBody(scope: Scope): unknown {
  const body = scopeBodies[scope.kind] as (scope: Scope) => unknown;
  return body(scope);
}
