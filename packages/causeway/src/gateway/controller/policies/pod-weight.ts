import type { Pod } from '@causeway/kubernetes/objects/core-objects';
import { largestWeight } from '../../protocol/frontend.ts';

/** A pod's share of new connections relative to the other pods of its Services, in the layer Pod. */
export const weightAnnotation = 'causeway.dev/weight';

export const defaultWeight = 1;

/** Undefined if the text is no whole number from 0 to 256. */
export function parseWeight(text: string): number | undefined {
  if (!/^\d{1,3}$/.test(text)) return undefined;
  const weight = Number(text);
  return weight <= largestWeight ? weight : undefined;
}

export function weightTextOf({ metadata }: Pod): string | undefined {
  return metadata?.annotations?.[weightAnnotation];
}

const shownPods = 3;

/** The message about pods whose annotation can't be read. */
export function invalidWeights(pods: readonly string[]): string | undefined {
  if (pods.length === 0) return undefined;
  const names = pods.slice(0, shownPods).join(', ');
  const more = pods.length > shownPods ? ` and ${pods.length - shownPods} more` : '';
  return `The annotation ${weightAnnotation} is not a whole number from 0 to ${largestWeight} on these pods, which count with the weight ${defaultWeight}: ${names}${more}`;
}
