import { expect, test } from 'vitest';
import { marks, occmMarks, otherNames } from './reference-annotations.ts';
import { wordsInSources } from './words-in-sources.ts';

test('every label and annotation in the sources is in the reference, and no other', () => {
  const found = wordsInSources([
    /['`](causeway\.dev\/[A-Za-z0-9-]+)['`]/,
    /'(idling\.alpha\.openshift\.io\/[a-z-]+)'/,
    /'(cah-loadbalancer\.k8s\.cloudandheat\.com\/[a-z-]+)'/,
    /'(openstack\.org\/kuryr-[a-z-]+)'/,
    /'(service\.beta\.kubernetes\.io\/[a-z-]+)'/,
  ]);
  expect([...found.difference(otherNames)].sort()).toEqual(Object.keys(marks).sort());
});

test("so is every annotation of OCCM's", () => {
  const found = wordsInSources([
    /reader\.(?:text|flag)\((?:\w+, )?'([a-z-]+)'/,
    /reader\.number\(-?\d+, (?:\w+, )?'([a-z-]+)'/,
    /reader\.choice\((?:\[[^\]]*\]|\w+), '([a-z-]+)'/,
  ]);
  expect([...found].sort()).toEqual(Object.keys(occmMarks).sort());
});
