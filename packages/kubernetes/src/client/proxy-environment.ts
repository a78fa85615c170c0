import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parseInterface, prefixContains, prefixOf } from '@causeway/base/address/prefix';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY select, by the rules of Go programs. */
export function proxyFor(target: URL, env: Environment): string | undefined {
  const setting = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = read(env, setting);
  if (proxy === '' || isExempt(target, read(env, 'no_proxy'))) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (URL.canParse(url)) return url;
  throw new CausewayError('invalid', `${setting.toUpperCase()} is not a proxy address`);
}

function read(env: Environment, name: string): string {
  return env[name.toUpperCase()] || env[name] || '';
}

function isExempt(target: URL, exemptions: string): boolean {
  const host = target.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const address = tryParseAddress(host);
  if (host === 'localhost' || (address !== undefined && isLoopback(address))) return true;
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return exemptions
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, address, port));
}

function isLoopback(address: Address): boolean {
  return address === '::1' || address.startsWith('127.');
}

function matches(entry: string, host: string, address: Address | undefined, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return address !== undefined && isInside(entry, address);
  const [, name = entry, onlyPort] = /^(.*[^:]):([0-9]+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && !isAddress(entry) && onlyPort !== port) return false;
  const wanted = isAddress(entry) ? entry : name;
  if (address !== undefined) return tryParseAddress(wanted.replace(/^\[|\]$/g, '')) === address;
  const suffix = wanted.replace(/^\*?\./, '');
  const subdomainsOnly = suffix !== wanted;
  return host.endsWith(`.${suffix}`) || (!subdomainsOnly && host === suffix);
}

function isAddress(text: string): boolean {
  return tryParseAddress(text.replace(/^\[|\]$/g, '')) !== undefined;
}

function isInside(cidr: string, address: Address): boolean {
  try {
    const { address: base, length } = parseInterface(cidr);
    return prefixContains(prefixOf(base, length), address);
  } catch {
    return false;
  }
}
