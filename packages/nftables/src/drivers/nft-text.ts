import type { NatTarget, Operand, Rule, Statement, Verdict } from '../model/expression.ts';
import {
  ruleDigest,
  type DataType,
  type Element,
  type SetDefinition,
  type TableFamily,
} from '../model/ruleset.ts';
import type { ElementsOperation, Operation } from '../model/transaction.ts';

/**
 * Operations as text for `nft -f -`. The input is parsed values, numbers and our own names, so nothing needs
 * quoting; `checkedName` verifies it.
 */
export function* operationsText(
  table: string,
  operations: readonly Operation[],
  family: TableFamily = 'inet',
): Iterable<string> {
  const place = `${family} ${checkedName(table)}`;
  for (const operation of operations) yield* operationText(place, operation);
}

export function ruleText(rule: Rule): string {
  return rule.statements.map(statementText).join(' ');
}

export function verdictText(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.kind} ${checkedName(verdict.chain)}` : verdict.kind;
}

export function elementText(element: Element): string {
  const key = element.key.join(' . ');
  const { keyEnd, timeoutSeconds } = element;
  const bounds = keyEnd === undefined ? key : `${key}-${keyEnd.join(' . ')}`;
  const range = timeoutSeconds === undefined ? bounds : `${bounds} timeout ${timeoutSeconds}s`;
  if (element.value === undefined) return range;
  const value = 'kind' in element.value ? verdictText(element.value) : element.value.join(' . ');
  return `${range} : ${value}`;
}

const nameForm = /^[a-z][a-z0-9-]{0,100}$/;

function checkedName(name: string): string {
  if (!nameForm.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a valid name`);
  return name;
}

const interfaceForm = /^[\w.@-]{1,15}$/;

function checkedInterface(name: string): string {
  if (!interfaceForm.test(name))
    throw new RangeError(`${JSON.stringify(name)} is not a valid interface name`);
  return name;
}

function* operationText(table: string, operation: Operation): Iterable<string> {
  const within = (name: string) => `${table} ${checkedName(name)}`;
  switch (operation.op) {
    case 'add-table':
      yield `add table ${table}`;
      return;
    case 'remove-table':
      // The preceding add makes the removal of a missing table succeed.
      yield `add table ${table}\ndelete table ${table}`;
      return;
    case 'add-chain':
      yield `add chain ${within(operation.chain)}${hookText(operation)}`;
      return;
    case 'remove-chain':
      yield `delete chain ${within(operation.chain)}`;
      return;
    case 'set-rules':
      yield `flush chain ${within(operation.chain)}`;
      for (const rule of operation.rules) {
        const comment = `comment "${ruleDigest(rule)}"`;
        yield `add rule ${within(operation.chain)} ${ruleText(rule)} ${comment}`;
      }
      return;
    case 'add-set':
      yield setText(within(operation.definition.name), operation.definition);
      return;
    case 'remove-set':
      yield `delete set ${within(operation.set)}`;
      return;
    case 'flush-set':
      yield `flush ${operation.isMap === true ? 'map' : 'set'} ${within(operation.set)}`;
      return;
    case 'add-elements':
    case 'remove-elements':
      yield* elementsText(within(operation.set.name), operation);
      return;
  }
}

const elementsPerLine = 1000;

function* elementsText(place: string, operation: ElementsOperation): Iterable<string> {
  // `create` rejects an existing element, but nft 1.0.6 rejects every range as existing.
  const isRange = operation.elements[0]?.keyEnd !== undefined;
  const verb = operation.op === 'remove-elements' ? 'delete' : isRange ? 'add' : 'create';
  for (let start = 0; start < operation.elements.length; start += elementsPerLine) {
    const part = operation.elements.slice(start, start + elementsPerLine);
    const texts = part.map((element) =>
      elementText(verb === 'delete' ? withoutValue(element) : element),
    );
    yield `${verb} element ${place} { ${texts.join(', ')} }`;
  }
}

function withoutValue({ key, keyEnd }: Element): Element {
  return keyEnd === undefined ? { key } : { key, keyEnd };
}

function hookText({ base }: Extract<Operation, { op: 'add-chain' }>): string {
  if (base === undefined) return '';
  return ` { type ${base.type} hook ${base.hook} priority ${base.priority} ; policy accept ; }`;
}

/** Only `typeof` can name the type of a slot; numgen is the expression that `nft list` can print. */
const typeofTexts: Readonly<Record<DataType, string>> = {
  ipv4_addr: 'ip daddr',
  ipv6_addr: 'ip6 daddr',
  inet_proto: 'meta l4proto',
  inet_service: 'th dport',
  slot: 'numgen inc mod 2',
};

function setText(place: string, definition: SetDefinition): string {
  const { key, value, interval = false, dynamic = false, counter = false } = definition;
  const byExample = key.includes('slot');
  const name = (type: DataType) => (byExample ? typeofTexts[type] : type);
  // A verdict has no `typeof` expression, so a verdict map over slots can't use typeof.
  const keyText = key.map(name).join(' . ');
  const valueText = typeof value === 'string' ? value : value?.map(name).join(' . ');
  const type = valueText === undefined ? keyText : `${keyText} : ${valueText}`;
  const flags = interval ? ' flags interval ;' : dynamic ? ' flags dynamic, timeout ;' : '';
  const kind = value === undefined ? 'set' : 'map';
  const extras = `${flags}${counter ? ' counter ;' : ''}`;
  return `add ${kind} ${place} { ${byExample ? 'typeof' : 'type'} ${type} ;${extras} }`;
}

function statementText(statement: Statement): string {
  switch (statement.kind) {
    case 'compare': {
      const operand = operandText(statement.operand);
      const masked = statement.mask === undefined ? operand : `${operand} & ${statement.mask}`;
      return `${masked} ${statement.equal ? '==' : '!='} ${statement.value}`;
    }
    case 'lookup':
      return `${keyText(statement.key)} ${statement.present ? '' : '!= '}@${checkedName(statement.set)}`;
    case 'input-interface':
      return `iifname "${checkedInterface(statement.name)}${statement.isPrefix ? '*' : ''}"`;
    case 'dispatch':
      return `${keyText(statement.key)} vmap @${checkedName(statement.map)}`;
    case 'dnat':
    case 'snat':
      return `${statement.kind} ${statement.family === 4 ? 'ip' : 'ip6'} to ${targetText(statement.to)}`;
    case 'masquerade':
      return 'masquerade fully-random';
    case 'redirect':
      return `redirect to :${statement.port}`;
    case 'reject':
      return statement.reason === 'tcp-reset'
        ? 'reject with tcp reset'
        : 'reject with icmpx port-unreachable';
    case 'remember':
      return `update @${checkedName(statement.set)} { ${keyText(statement.key)} timeout ${statement.timeoutSeconds}s }`;
    case 'forget':
      return `delete @${checkedName(statement.set)} { ${keyText(statement.key)} }`;
    case 'set-tcp-flags':
      return `tcp flags set ${statement.flags}`;
    case 'log':
      return `log group ${statement.group}`;
    case 'send-to':
      return `dup to ${keyText(statement.key)} map @${checkedName(statement.map)}`;
    case 'notrack':
      return 'notrack';
    case 'verdict':
      return verdictText(statement.verdict);
    default:
      return statement satisfies never;
  }
}

function targetText(target: NatTarget): string {
  switch (target.kind) {
    case 'backend-map':
      return `${keyText(target.key)} map @${checkedName(target.map)}`;
    case 'split-maps':
      return `${keyText(target.addressKey)} map @${checkedName(target.addressMap)} : ${keyText(target.portKey)} map @${checkedName(target.portMap)}`;
    case 'backend':
      return target.address.includes(':')
        ? `[${target.address}]:${target.port}`
        : `${target.address}:${target.port}`;
    default:
      return target satisfies never;
  }
}

function keyText(key: readonly Operand[]): string {
  return key.map(operandText).join(' . ');
}

function operandText(operand: Operand): string {
  switch (operand.kind) {
    case 'source':
      return operand.family === 4 ? 'ip saddr' : 'ip6 saddr';
    case 'destination':
      return operand.family === 4 ? 'ip daddr' : 'ip6 daddr';
    case 'original-destination':
      return operand.family === 4 ? 'ct original ip daddr' : 'ct original ip6 daddr';
    case 'original-destination-port':
      return 'ct original proto-dst';
    case 'ttl':
      return operand.family === 4 ? 'ip ttl' : 'ip6 hoplimit';
    case 'hash':
      return `jhash ${keyText(operand.of)} mod ${operand.modulus} seed ${operand.seed}${offsetText(operand.offset)}`;
    case 'random':
      return `numgen random mod ${operand.modulus}${offsetText(operand.offset)}`;
    default:
      return plainOperands[operand.kind];
  }
}

function offsetText(offset: number | undefined): string {
  return offset === undefined || offset === 0 ? '' : ` offset ${offset}`;
}

const plainOperands = {
  protocol: 'meta l4proto',
  family: 'meta nfproto',
  'source-port': 'th sport',
  'destination-port': 'th dport',
  'tcp-flags': 'tcp flags',
  'vrrp-router-id': '@th,8,8',
  'icmp-type': 'icmp type',
  'icmpv6-type': 'icmpv6 type',
  'connection-state': 'ct state',
  'connection-status': 'ct status',
  'connection-direction': 'ct direction',
  'source-type': 'fib saddr type',
  socket: 'socket transparent',
} as const satisfies Partial<Record<Operand['kind'], string>>;
