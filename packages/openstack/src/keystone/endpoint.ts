import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ServiceName } from '../error.ts';

/** Base URL of a service's calls, and the root that serves its version document. */
export interface Endpoint {
  readonly base: string;
  readonly root: string;
}

/** The version that is appended to an endpoint without one, and the versions that our clients support. */
const versions: Readonly<Record<ServiceName, { segment: string; fits: RegExp }>> = {
  identity: { segment: 'v3', fits: /^v3$/ },
  network: { segment: 'v2.0', fits: /^v2\.0$/ },
  'load-balancer': { segment: 'v2', fits: /^v2(?:\.0)?$/ },
};

const versionSegment = /^v\d+(?:\.\d+)?$/;

/**
 * Parses an endpoint of a catalog or a configuration: with or without the version, with or without a trailing
 * slash. Another version in it (a Keystone v2.0 address is still common) is replaced.
 */
export function parseEndpoint(service: ServiceName, text: string): Endpoint {
  const url = parseHttpUrl(text, `${service} endpoint`);
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const last = segments.at(-1);
  const given = last !== undefined && versionSegment.test(last) ? last : undefined;
  if (given !== undefined) segments.pop();
  const root = url.origin + segments.map((segment) => `/${segment}`).join('');
  const { segment, fits } = versions[service];
  return { root, base: `${root}/${given !== undefined && fits.test(given) ? given : segment}` };
}

/** Parses the address of a service. A password or a query in it is an error. */
export function parseHttpUrl(text: string, what: string): URL {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CausewayError('invalid', `the ${what} is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new CausewayError('invalid', `the ${what} must not contain a user or password`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new CausewayError('invalid', `the ${what} must not contain a query or fragment`);
  }
  return url;
}
