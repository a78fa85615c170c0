import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { familyOf, tryParseAddress, type Address } from '@causeway/base/address/address';
import {
  parseInterface,
  prefixContains,
  prefixOf,
  type Prefix,
} from '@causeway/base/address/prefix';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { compiledPattern, TooLongToMatch } from '../schema/pattern.ts';
import { CelEvaluationError } from './errors.ts';

/** An IP address as a CEL value, distinct from a string. */
class IpValue {
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }
}

class CidrValue {
  readonly prefix: Prefix;
  readonly address: Address;

  constructor(prefix: Prefix, address: Address) {
    this.prefix = prefix;
    this.address = address;
  }
}

/** Adds the functions that Kubernetes has beyond CEL's own: addresses, URLs, lists and patterns. */
export function addKubernetesLibrary(environment: Environment): Environment {
  return addMatches(addLists(addAddresses(addTexts(environment))));
}

function addTexts(environment: Environment): Environment {
  return environment
    .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
    .registerFunction('string.replace(string, string): string', replaceAll)
    .registerFunction('string.find(string): string', (text: string, pattern: string) => {
      return findIn(text, pattern) ?? '';
    });
}

function replaceAll(text: string, before: string, after: string): string {
  return text.replaceAll(before, () => after);
}

function findIn(text: string, pattern: string): string | undefined {
  const compiled = compiledPattern(pattern);
  if (compiled === undefined) throw new CelEvaluationError('error parsing regexp');
  try {
    return compiled.find(text);
  } catch (error) {
    if (!(error instanceof TooLongToMatch)) throw error;
    throw new CelEvaluationError('operation cancelled: actual cost limit exceeded');
  }
}

/** The parts of the library's type checker and evaluator that a macro uses. */
interface Checker {
  check(node: ASTNode, context: unknown): unknown;
  getType(name: string): unknown;
}
interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
}

/**
 * Replaces `string.matches`, whose patterns the library runs without a limit. The library accepts no second
 * `string.matches`, but it finds a macro by its name only. So this macro, which is registered for another
 * receiver, applies to strings too.
 */
function addMatches(environment: Environment): Environment {
  return environment.registerFunction(
    'kubernetesIP.matches(ast): bool',
    ({ receiver, args: [pattern] }: { receiver: ASTNode; args: [ASTNode] }) => ({
      typeCheck(checker: Checker, _macro: unknown, context: unknown) {
        checker.check(receiver, context);
        checker.check(pattern, context);
        return checker.getType('bool');
      },
      evaluate(evaluator: Evaluator, _macro: unknown, context: unknown) {
        const text = evaluator.run(receiver, context);
        const source = evaluator.run(pattern, context);
        if (typeof text === 'string' && typeof source === 'string') {
          return findIn(text, source) !== undefined;
        }
        throw new CelEvaluationError('no such overload');
      },
    }),
  );
}

function addAddresses(environment: Environment): Environment {
  return environment
    .registerType('kubernetesIP', { ctor: IpValue, fields: {} })
    .registerType('kubernetesCIDR', { ctor: CidrValue, fields: {} })
    .registerFunction('isIP(string): bool', (text: string) => tryParseAddress(text) !== undefined)
    .registerFunction('ip(string): kubernetesIP', parseIp)
    .registerFunction('string(kubernetesIP): string', ({ address }: IpValue) => address)
    .registerFunction('kubernetesIP.family(): int', ({ address }: IpValue) => {
      return BigInt(familyOf(address));
    })
    .registerFunction('kubernetesIP.isLoopback(): bool', ({ address }: IpValue) => {
      return address === '::1' || address.startsWith('127.');
    })
    .registerFunction('kubernetesIP.isUnspecified(): bool', ({ address }: IpValue) => {
      return address === '::' || address === '0.0.0.0';
    })
    .registerFunction('isCIDR(string): bool', (text: string) => tryParseCidr(text) !== undefined)
    .registerFunction('cidr(string): kubernetesCIDR', parseCidr)
    .registerFunction('kubernetesCIDR.ip(): kubernetesIP', ({ address }: CidrValue) => {
      return new IpValue(address);
    })
    .registerFunction('kubernetesCIDR.prefixLength(): int', ({ prefix }: CidrValue) => {
      return BigInt(prefix.length);
    })
    .registerFunction('kubernetesCIDR.masked(): kubernetesCIDR', ({ prefix }: CidrValue) => {
      return new CidrValue(prefix, prefix.address);
    })
    .registerFunction('kubernetesCIDR.containsIP(string): bool', containsIp)
    .registerFunction('kubernetesCIDR.containsIP(kubernetesIP): bool', containsIp)
    .registerFunction('kubernetesCIDR.containsCIDR(string): bool', containsCidr)
    .registerFunction('kubernetesCIDR.containsCIDR(kubernetesCIDR): bool', containsCidr);
}

function parseIp(text: string): IpValue {
  const address = tryParseAddress(text);
  if (address !== undefined) return new IpValue(address);
  throw new CelEvaluationError(
    `IP Address ${JSON.stringify(text)} parse error during conversion from string`,
  );
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
  if (cidr !== undefined) return cidr;
  throw new CelEvaluationError('network address parse error during conversion from string');
}

function containsIp({ prefix }: CidrValue, inner: IpValue | string): boolean {
  const address = typeof inner === 'string' ? tryParseAddress(inner) : inner.address;
  return address !== undefined && prefixContains(prefix, address);
}

function containsCidr({ prefix }: CidrValue, inner: CidrValue | string): boolean {
  const { prefix: other } = typeof inner === 'string' ? parseCidr(inner) : inner;
  return other.length >= prefix.length && prefixContains(prefix, other.address);
}

type Ordered = bigint | number | string;

function addLists(environment: Environment): Environment {
  const smallest = (items: Ordered[]) =>
    items.reduce((left, right) => (right < left ? right : left));
  const largest = (items: Ordered[]) =>
    items.reduce((left, right) => (right > left ? right : left));
  return environment
    .registerFunction('list.sum(): dyn', (items: bigint[]) => {
      return items.reduce((total, item) => total + item, 0n);
    })
    .registerFunction('list.min(): dyn', smallest)
    .registerFunction('list.max(): dyn', largest)
    .registerFunction('list.isSorted(): bool', (items: Ordered[]) => {
      return items.every((item, index) => index === 0 || (items[index - 1] ?? item) <= item);
    })
    .registerFunction('list.indexOf(dyn): int', (items: unknown[], item: unknown) => {
      return BigInt(items.indexOf(item));
    })
    .registerFunction('list.lastIndexOf(dyn): int', (items: unknown[], item: unknown) => {
      return BigInt(items.lastIndexOf(item));
    });
}
