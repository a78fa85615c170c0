import { expect, test } from 'vitest';
import { longSentencesIn, vagueWordsIn } from './sentences.ts';

const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

test('a sentence of 30 words is accepted, a sentence of 31 is long', () => {
  expect(longSentencesIn(`# Title\n\n${words(30)}. ${words(30)}.`)).toEqual([]);
  expect(longSentencesIn(`# Title\n\n${words(31)}.`)).toEqual([{ line: 3, text: `${words(31)}.` }]);
});

test('a sentence continues in the next line, and ends with its paragraph', () => {
  expect(longSentencesIn(`${words(20)}\n${words(20)}`)).toHaveLength(1);
  expect(longSentencesIn(`${words(20)}\n\n${words(20)}`)).toEqual([]);
});

test.each([
  ['a block of code', `\`\`\`\n${words(40)}\n\`\`\``],
  ['items of a list', `- ${words(20)}\n- ${words(20)}`],
  ['cells of a table', `| ${words(20)} | ${words(20)} |`],
  ['code in a sentence', `${words(20)} \`${words(20)}\``],
])('%s: has no long sentence', (_, page) => {
  expect(longSentencesIn(page)).toEqual([]);
});

test.each([
  ['in a paragraph', 'The rules stay.\n\nNobody answers.', { line: 3, text: 'Nobody' }],
  ['in an item', '- whoever asks', { line: 1, text: 'whoever' }],
  ['in a cell', '| what is kept |', { line: 1, text: 'what is' }],
])('reports a vague word %s', (_, page, expected) => {
  expect(vagueWordsIn(page)).toEqual([expected]);
});

test.each([
  ['a command', '`causeway ipam who-has`'],
  ['a block of code', '```\nwho\n```'],
  ['people', 'For operators who run clusters.'],
  ['a relative clause', 'A Service whose address is free.'],
])('accepts %s', (_, page) => {
  expect(vagueWordsIn(page)).toEqual([]);
});
