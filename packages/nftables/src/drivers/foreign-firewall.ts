import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';
import { listingItems } from './nft-listing.ts';

/** A foreign chain that may block connections that move here from another gateway. */
export interface StrictChain {
  /** `inet filter forward` */
  readonly chain: string;
  readonly why: string;
}

const chainSchema = z.object({
  family: z.string(),
  table: z.string(),
  name: z.string(),
  hook: z.string().optional(),
  policy: z.string().optional(),
});
const ruleSchema = z.object({
  family: z.string(),
  table: z.string(),
  chain: z.string(),
  expr: z.array(z.record(z.string(), z.unknown())),
});

/**
 * Foreign forward chains that accept only known connections: established ones, or ones with a destination that was
 * rewritten here. A connection that was opened through another gateway is neither when its first packet
 * arrives here. Lists chains and rules without elements.
 */
export async function findStrictForwardChains(
  ours: string,
  options: { readonly networkNamespace?: string; readonly signal?: AbortSignal } = {},
): Promise<StrictChain[]> {
  const command = ['nft', '-j', '-t', 'list', 'ruleset'] as const;
  const [program, ...args] =
    options.networkNamespace === undefined
      ? command
      : (['nsenter', `--net=${options.networkNamespace}`, ...command] as const);
  const result = await runProgram(program, args, { signal: options.signal });
  if (result.code !== 0) {
    const [line = 'nft failed'] = result.stderr.split('\n');
    throw new CausewayError('unavailable', `foreign rules could not be read: ${line}`);
  }
  return strictChains(ours, result.stdout);
}

/** The pure decision, on the output of `nft -j -t list ruleset`. */
export function strictChains(ours: string, text: string): StrictChain[] {
  const found: StrictChain[] = [];
  const open = new Set<string>();
  const items = listingItems(text);
  for (const item of items) {
    const rule = ruleSchema.safeParse(item['rule']);
    if (rule.success && isUnconditionalAccept(rule.data.expr)) {
      open.add(placeOf(rule.data.family, rule.data.table, rule.data.chain));
    }
  }
  for (const item of items) {
    const parsed = chainSchema.safeParse(item['chain']);
    if (!parsed.success || parsed.data.hook !== 'forward') continue;
    const { family, table, name, policy } = parsed.data;
    if (family === 'inet' && table === ours) continue;
    const chain = placeOf(family, table, name);
    if (policy === 'drop' && !open.has(chain)) found.push({ chain, why: 'its policy is drop' });
  }
  for (const item of items) {
    const parsed = ruleSchema.safeParse(item['rule']);
    if (!parsed.success) continue;
    const { family, table, chain, expr } = parsed.data;
    if (family === 'inet' && table === ours) continue;
    if (dropsUnknownConnections(expr)) {
      found.push({ chain: placeOf(family, table, chain), why: 'a rule drops unknown connections' });
    }
  }
  return found;
}

function placeOf(family: string, table: string, chain: string): string {
  return `${family} ${table} ${chain}`;
}

function isUnconditionalAccept(expressions: readonly Record<string, unknown>[]): boolean {
  return expressions.every((expression) => 'accept' in expression || 'counter' in expression);
}

/** A match on `ct state` or `ct status` followed by a drop or a reject. */
function dropsUnknownConnections(expressions: readonly Record<string, unknown>[]): boolean {
  const refuses = expressions.some((expression) => 'drop' in expression || 'reject' in expression);
  if (!refuses) return false;
  return expressions.some((expression) => {
    const text = JSON.stringify(expression['match'] ?? '');
    return /"ct":\{"key":"(?:state|status)"\}/.test(text) && /invalid|new|!=/.test(text);
  });
}
