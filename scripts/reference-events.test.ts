import { expect, test } from 'vitest';
import { eventMeanings } from './reference-events.ts';
import { wordsInSources } from './words-in-sources.ts';

/** Reasons of conditions and rows, which are no Events. */
const notEvents = new Set([
  ...['Served', 'Serving', 'Pending', 'Deleting', 'Idle', 'Foreign', 'Unclaimed'],
]);

test('every Event in the sources is in the reference, and no other', () => {
  const found = wordsInSources([
    /reason: '([A-Z][A-Za-z0-9]+)'/,
    /(?:reason:|isKnown) [^'\n]*\? '([A-Z][A-Za-z0-9]+)'/,
    /(?:reason:|isKnown) [^'\n]*\? '[A-Z][A-Za-z0-9]+' : '([A-Z][A-Za-z0-9]+)'/,
    /'(?:Normal|Warning)',\s*'([A-Z][A-Za-z0-9]+)'/,
    /note\(\s*'([A-Z][A-Za-z0-9]+)'/,
  ]);
  const events = [...found.difference(notEvents)].sort();
  expect(Object.keys(eventMeanings).sort()).toEqual(events);
});
