import { expect, test } from 'vitest';
import { longSentencesIn } from './sentences.ts';

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
