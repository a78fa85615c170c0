import { expect, test } from 'vitest';
import { agentRefusals } from './reference-errors.ts';
import { wordsInSources } from './words-in-sources.ts';

test('every refusal of an agent is in the reference, and no other', () => {
  const found = wordsInSources(
    [/reason: '([a-z-]+)'/, /new PushRefused\(\s*'([a-z-]+)'/],
    'agent/',
  );
  expect(Object.keys(agentRefusals).sort()).toEqual([...found].sort());
});
