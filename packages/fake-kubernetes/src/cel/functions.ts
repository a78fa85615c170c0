import { familyOf, tryParseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  parseInterface,
  prefixContains,
  prefixOf,
  type Prefix,
} from '@causeway/base/address/prefix';
import { isObject } from '../object.ts';
import { compiledPattern } from '../schema/pattern.ts';
import { CelEvaluationError, CelSyntaxError } from './errors.ts';

/** An IP address or network as a CEL value, distinct from a string. */
class IpValue {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class CidrValue {
  readonly prefix: Prefix;
  readonly address: string;

  constructor(prefix: Prefix, address: string) {
    this.prefix = prefix;
    this.address = address;
  }
}

export function callFunction(name: string, args: readonly unknown[]): unknown {
  const [first] = args;
  switch (name) {
    case 'size':
      return sizeOf(first);
    case 'string':
      return textOf(first);
    case 'int':
    case 'uint':
      return Math.trunc(numberOf(first));
    case 'double':
      return numberOf(first);
    case 'dyn':
      return first;
    case 'isIP':
      return tryParseAddress(asText(first)) !== undefined;
    case 'ip':
      return parseIp(asText(first));
    case 'isCIDR':
      return tryParseCidr(asText(first)) !== undefined;
    case 'cidr':
      return parseCidr(asText(first));
    case 'isURL':
      return URL.canParse(asText(first));
    default:
      throw new CelSyntaxError(`the function ${name} is not known here`);
  }
}

export function callMethod(name: string, on: unknown, args: readonly unknown[]): unknown {
  if (name === 'size' && args.length === 0) return sizeOf(on);
  if (typeof on === 'string') return textMethod(name, on, args);
  if (Array.isArray(on)) return listMethod(name, on as readonly unknown[], args);
  if (on instanceof IpValue) return ipMethod(name, on);
  if (on instanceof CidrValue) return cidrMethod(name, on, args);
  throw new CelSyntaxError(`the function ${name} is not known here`);
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new CelEvaluationError('no such overload');
  return value;
}

function textOf(value: unknown): string {
  if (value instanceof IpValue) return value.text;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new CelEvaluationError('no such overload');
}

function numberOf(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) {
    throw new CelEvaluationError('type conversion error');
  }
  return number;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new CelEvaluationError('no such overload');
}

function matches(text: string, pattern: unknown): boolean {
  const expression = compiledPattern(asText(pattern));
  if (expression === undefined) throw new CelEvaluationError('error parsing regexp');
  return expression.test(text);
}

function textMethod(name: string, on: string, [first, second]: readonly unknown[]): unknown {
  switch (name) {
    case 'contains':
      return on.includes(asText(first));
    case 'startsWith':
      return on.startsWith(asText(first));
    case 'endsWith':
      return on.endsWith(asText(first));
    case 'matches':
      return matches(on, first);
    case 'lowerAscii':
      return on.toLowerCase();
    case 'upperAscii':
      return on.toUpperCase();
    case 'trim':
      return on.trim();
    case 'split':
      return on.split(asText(first));
    case 'replace':
      return on.replaceAll(asText(first), () => asText(second));
    case 'indexOf':
      return on.indexOf(asText(first));
    case 'lastIndexOf':
      return on.lastIndexOf(asText(first));
    case 'charAt':
      return on.charAt(numberOf(first));
    case 'substring':
      return on.substring(numberOf(first), second === undefined ? on.length : numberOf(second));
    case 'find':
      return compiledPattern(asText(first))?.exec(on)?.[0] ?? '';
    default:
      throw new CelSyntaxError(`the function ${name} is not known here`);
  }
}

function listMethod(name: string, on: readonly unknown[], [first]: readonly unknown[]): unknown {
  switch (name) {
    case 'join':
      return on.map(asText).join(first === undefined ? '' : asText(first));
    case 'sum':
      return on.reduce<number>((total, item) => total + numberOf(item), 0);
    case 'min':
      return Math.min(...on.map(numberOf));
    case 'max':
      return Math.max(...on.map(numberOf));
    case 'isSorted':
      return on.every((item, index) => index === 0 || isOrdered(on[index - 1], item));
    case 'indexOf':
      return on.indexOf(first);
    case 'lastIndexOf':
      return on.lastIndexOf(first);
    default:
      throw new CelSyntaxError(`the function ${name} is not known here`);
  }
}

function isOrdered(left: unknown, right: unknown): boolean {
  return typeof left === 'string' && typeof right === 'string'
    ? left <= right
    : numberOf(left) <= numberOf(right);
}

function parseIp(text: string): IpValue {
  const address = tryParseAddress(text);
  if (address === undefined) {
    throw new CelEvaluationError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string`,
    );
  }
  return new IpValue(address);
}

function tryParseCidr(text: string): CidrValue | undefined {
  try {
    const { address, length } = parseInterface(text);
    return new CidrValue(prefixOf(address, length), address);
  } catch (error) {
    if (error instanceof CausewayError) return undefined;
    throw error;
  }
}

function parseCidr(text: string): CidrValue {
  const cidr = tryParseCidr(text);
  if (cidr === undefined)
    throw new CelEvaluationError('network address parse error during conversion from string');
  return cidr;
}

function ipMethod(name: string, { text }: IpValue): unknown {
  const address = tryParseAddress(text);
  if (name === 'family' && address !== undefined) return familyOf(address);
  if (name === 'isLoopback') return text === '::1' || text.startsWith('127.');
  if (name === 'isUnspecified') return text === '::' || text === '0.0.0.0';
  throw new CelSyntaxError(`the function ${name} is not known here`);
}

function cidrMethod(
  name: string,
  { prefix, address }: CidrValue,
  [first]: readonly unknown[],
): unknown {
  switch (name) {
    case 'ip':
      return new IpValue(address);
    case 'prefixLength':
      return prefix.length;
    case 'masked':
      return new CidrValue(prefix, prefix.address);
    case 'containsIP': {
      const inner = first instanceof IpValue ? first.text : asText(first);
      const parsed = tryParseAddress(inner);
      return parsed !== undefined && prefixContains(prefix, parsed);
    }
    case 'containsCIDR': {
      const inner = first instanceof CidrValue ? first : parseCidr(asText(first));
      const fits = inner.prefix.length >= prefix.length;
      return fits && prefixContains(prefix, inner.prefix.address);
    }
    default:
      throw new CelSyntaxError(`the function ${name} is not known here`);
  }
}
