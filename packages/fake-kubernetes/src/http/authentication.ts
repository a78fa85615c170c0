import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { ApiError } from '../status.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const administrators = 'system:masters';
const openPaths = /^\/(healthz|livez|readyz|version)(\/|$)/;

/** Identifies the client by a certificate of the server's authority or by a bearer token. */
export function authenticate(request: IncomingMessage, tokens: ReadonlyMap<string, User>): User {
  const byCertificate = certificateUser(request);
  if (byCertificate !== undefined) return byCertificate;
  const match = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '');
  if (match === null) return anonymous;
  const given = digest(match[1] ?? '');
  for (const [token, user] of tokens) if (timingSafeEqual(digest(token), given)) return user;
  throw new ApiError('Unauthorized', 'Unauthorized');
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function certificateUser(request: IncomingMessage): User | undefined {
  const { socket } = request;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const [name] = [subject.CN].flat();
  if (name === undefined) return undefined;
  return { name, groups: [subject.O ?? []].flat() };
}

/** Administrators can do everything; other users can only read the health and the version. */
export function authorize(user: User, method: string, path: string): void {
  if (user.groups.includes(administrators)) return;
  if (openPaths.test(path) && method === 'GET') return;
  throw new ApiError(
    'Forbidden',
    `forbidden: User "${user.name}" cannot ${method.toLowerCase()} path "${path}"`,
    {},
  );
}
