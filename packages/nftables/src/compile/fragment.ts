import type { Chain, Element, SetDefinition } from '../model/ruleset.ts';

/** An element and the set it belongs in. */
export interface PlacedElement {
  readonly set: string;
  readonly element: Element;
}

/**
 * A set with all of its elements. Its name is derived from its content: sets of one name have the same
 * elements.
 */
export interface FilledSet {
  readonly definition: SetDefinition;
  readonly elements: readonly Element[];
}

/**
 * The contribution of one source (a service, a policy, the skeleton) to the ruleset. The ruleset is the sum
 * of all fragments; several may contribute the same chain, set or element.
 */
export interface Fragment {
  readonly chains: readonly Chain[];
  readonly sets: readonly SetDefinition[];
  readonly elements: readonly PlacedElement[];
  readonly filledSets: readonly FilledSet[];
}

/** Builds a fragment. */
export class FragmentBuilder {
  readonly chains: Chain[] = [];
  readonly sets: SetDefinition[] = [];
  readonly elements: PlacedElement[] = [];
  readonly filledSets: FilledSet[] = [];

  element(set: string, key: Element['key'], value?: Element['value']): void {
    this.elements.push({ set, element: value === undefined ? { key } : { key, value } });
  }

  range(set: string, first: Element['key'], last: Element['key']): void {
    this.elements.push({ set, element: { key: first, keyEnd: last } });
  }
}
