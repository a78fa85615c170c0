import fs from 'node:fs/promises';
import path from 'node:path';

const mostWords = 30;

/** Generated pages. */
const notChecked = /^docs\/reference\//;

/** One line for each sentence of the pages that has more than 30 words. */
export function findLongSentences(root: string): Promise<string[]> {
  return findInPages(root, longSentencesIn);
}

/** One line for each word of the pages that stands for a component without naming it. */
export function findVagueWords(root: string): Promise<string[]> {
  return findInPages(root, vagueWordsIn);
}

async function findInPages(root: string, find: (page: string) => Sentence[]): Promise<string[]> {
  const found: string[] = [];
  for await (const file of fs.glob(['docs/**/*.md', 'README.md', 'CONTRIBUTING.md'], {
    cwd: root,
  })) {
    if (notChecked.test(file)) continue;
    const sentences = find(await fs.readFile(path.join(root, file), 'utf8'));
    for (const { line, text } of sentences) found.push(`${file}:${line}: ${text}`);
  }
  return found.sort();
}

interface Sentence {
  readonly line: number;
  readonly text: string;
}

/** The sentences of a page that have more than 30 words. An item of a list, and in a table a cell or a semicolon, end a sentence. */
export function longSentencesIn(page: string): Sentence[] {
  const long: Sentence[] = [];
  for (const { line, text } of blocksOf(page)) {
    for (const sentence of text.split(/(?<=[.!?:])\s/)) {
      if (countWords(sentence) > mostWords) long.push({ line, text: sentence });
    }
  }
  return long;
}

/** People can be "operators who"; everything else has a name. */
const vagueWords =
  /\b(?:(?<!\b(?:operators|people|tenants|users) )who|whom|whoever|somebody|someone|nobody|anybody|what is|one that)\b/gi;

/** The vague words of a page, outside of code. */
export function vagueWordsIn(page: string): Sentence[] {
  return blocksOf(page).flatMap(({ line, text }) =>
    [...withoutCode(text).matchAll(vagueWords)].map(([word]) => ({ line, text: word })),
  );
}

/** Paragraphs, items and cells, without blocks of code. */
function blocksOf(page: string): Sentence[] {
  const blocks: { line: number; text: string }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [index, raw] of page.split('\n').entries()) {
    const text = raw.trim();
    if (text.startsWith('```')) isCode = !isCode;
    const last = blocks.at(-1);
    if (isCode || text === '' || text.startsWith('```') || text.startsWith('<')) {
      isOpen = false;
    } else if (text.startsWith('|')) {
      for (const part of text.split(/[|;]/)) blocks.push({ line: index + 1, text: part.trim() });
      isOpen = false;
    } else if (isOpen && last !== undefined && !/^(?:[-*#>]|\d{1,3}\.) /.test(text)) {
      last.text += ` ${text}`;
    } else {
      blocks.push({ line: index + 1, text });
      isOpen = true;
    }
  }
  return blocks;
}

/** Words of prose: code and the targets of links don't count. */
function countWords(sentence: string): number {
  return withoutCode(sentence)
    .split(/\s/)
    .filter((word) => /[a-z0-9]/i.test(word)).length;
}

function withoutCode(sentence: string): string {
  return sentence.replaceAll(/`[^`]{1,400}`/g, 'code').replaceAll(/\]\([^)\s]{1,400}\)/g, ']');
}
