import path from 'node:path';
import type { Host } from '../test/services/namespaces.ts';
import { median, type Measurement } from './benchmark.ts';

export const packetProgram = path.join(import.meta.dirname, 'packet-program.ts');
/** The port of every measured service. */
export const servedPort = 80;

interface Addressed {
  readonly address: string;
}

const rounds = 7;

/** Runs the program alternately with two addresses and returns the round with the median ratio. */
export async function alternate(
  client: Host,
  args: readonly string[],
  subject: Addressed,
  baseline: Addressed,
): Promise<Measurement> {
  const pairs: { value: number; baseline: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [mode = '', ...amount] = args;
    const order = round % 2 === 0 ? [subject, baseline] : [baseline, subject];
    const output = await client.run(
      process.execPath,
      ...[packetProgram, mode, String(servedPort), ...amount],
      ...order.map(({ address }) => address),
    );
    const [first = 0, second = 0] = JSON.parse(output) as number[];
    const [value, reference] = round % 2 === 0 ? [first, second] : [second, first];
    pairs.push({ value, baseline: reference });
  }
  const ratios = pairs.map((pair) => pair.value / pair.baseline);
  const middle = median(ratios);
  const chosen = pairs.find((pair) => pair.value / pair.baseline === middle);
  if (chosen === undefined) throw new Error('nothing was measured');
  return { ...chosen, spread: [Math.min(...ratios), Math.max(...ratios)] };
}

/** The median time of an exchange with each, in milliseconds; all alternate. */
export async function exchangeWithAll(
  client: Host,
  count: number,
  targets: readonly Addressed[],
): Promise<number[]> {
  const addresses = targets.map(({ address }) => address);
  const words = [packetProgram, 'exchange', String(servedPort), String(count), ...addresses];
  return JSON.parse(await client.run(process.execPath, ...words)) as number[];
}
