import vm from 'node:vm';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '@causeway/openstack/call';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import type { KlbOptions } from './kuryr-load-balancer.ts';

/** The subnets to try for a floating IP, in order; undefined leaves the choice to Neutron. */
export async function chooseSubnets(
  neutron: Neutron,
  networkId: string,
  options: KlbOptions,
  call: CallOptions,
): Promise<(string | undefined)[]> {
  const { floating_subnet_id: id, floating_subnet: name, floating_subnet_tags: tags } = options;
  if (id !== undefined) return [id];
  if (name === undefined && tags === undefined) return [undefined];
  const chosen: string[] = [];
  for await (const subnet of neutron.subnets.list({ networkId }, call)) {
    if (matchesSubnet(subnet, name, tags)) chosen.push(subnet.id);
  }
  if (chosen.length > 0) return chosen;
  throw new CausewayError('invalid', 'no subnet of the floating network matches the annotations', {
    hint: 'Check floating-subnet and floating-subnet-tags.',
  });
}

/** OCCM's patterns: a name, `*` as a wildcard, `~` before a regular expression, `!` to negate either. */
export function matchesSubnet(
  subnet: Pick<Subnet, 'name' | 'tags'>,
  name: string | undefined,
  tags: string | undefined,
): boolean {
  const byName = name === undefined || matches(name, (fits) => fits(subnet.name));
  const byTags =
    tags === undefined ||
    matches(tags, (fits, words) =>
      words === undefined
        ? subnet.tags.some(fits)
        : words.every((word) => subnet.tags.includes(word)),
    );
  return byName && byTags;
}

function matches(
  text: string,
  test: (fits: (text: string) => boolean, words: readonly string[] | undefined) => boolean,
): boolean {
  if (text.length > longestPattern) {
    throw new CausewayError('invalid', `a pattern has at most ${longestPattern} characters`);
  }
  const isTurned = text.startsWith('!');
  const rest = isTurned ? text.slice(1) : text;
  const isExpression = rest.startsWith('~');
  const words =
    isExpression || rest.includes('*') ? undefined : rest.split(',').map((word) => word.trim());
  const pattern = isExpression ? expression(rest.slice(1)) : glob(rest);
  return test((name) => fitsInTime(pattern, name), words) !== isTurned;
}

const longestPattern = 255;
const mostMs = 250;
const matching = new vm.Script('new RegExp(source).test(text)');

/** A user's pattern may take hours to match. Only code in another context can be interrupted. */
function fitsInTime({ source }: RegExp, text: string): boolean {
  try {
    return matching.runInNewContext({ source, text }, { timeout: mostMs }) === true;
  } catch {
    // The pattern was compiled before, so only a timeout is possible.
    throw new CausewayError('invalid', `${JSON.stringify(source)} takes too long to match`, {
      hint: 'Use a simpler pattern in floating-subnet or floating-subnet-tags.',
    });
  }
}

function expression(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch {
    throw new CausewayError('invalid', `${JSON.stringify(source)} is not a regular expression`);
  }
}

function glob(text: string): RegExp {
  const escaped = text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`);
}
