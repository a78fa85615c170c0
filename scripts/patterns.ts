import fs from 'node:fs/promises';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { analyse } from 'scslre';

interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly start: number;
}

/**
 * Files that build a pattern at run time, and why that is safe. Others may not: the pattern can't be checked
 * here.
 */
const builders: Readonly<Record<string, string>> = {
  'packages/fake-kubernetes/src/schema/names.ts': 'joins constants of the same file',
  'packages/fake-kubernetes/src/schema/pattern.ts':
    'compiles the patterns of schemas, for the sandbox',
  'packages/causeway/src/octavia/floating-subnet.ts': 'ends a match that exceeds its timeout',
  'packages/causeway/src/cli/playground/directory.ts': 'adds a constant prefix',
  'packages/causeway/src/playground/namespaces.ts': 'adds a constant prefix',
  'scripts/words-in-sources.ts': 'adds a flag to a literal',
  'scripts/patterns.ts': 'tests one set of characters of a literal',
};

/** A slash that can begin a literal. Most files have none, and need not be parsed. */
const mayHavePattern =
  /(?:[(,=:[!&|?{};>+\n]|\b(?:return|case|typeof|of|in))[ \t]{0,200}\/(?![/*])|\bRegExp\b/;

/**
 * One line for each regular expression that a long text can make slow: its time grows faster than the text.
 * Tests are excluded, because they match their own texts.
 */
export async function findSlowPatterns(root: string): Promise<string[]> {
  const complaints: string[] = [];
  for await (const file of fs.glob('{packages,scripts,bin}/**/*.{ts,js}', { cwd: root })) {
    if (/\.(?:test|testing|d)\.ts$/.test(file)) continue;
    const text = await fs.readFile(path.join(root, file), 'utf8');
    if (!mayHavePattern.test(text)) continue;
    complaints.push(...slowPatternsIn(file, text));
  }
  return complaints.sort();
}

export function slowPatternsIn(file: string, text: string): string[] {
  const complaints: string[] = [];
  const complain = (start: number, what: string) => {
    complaints.push(`${file}:${text.slice(0, start).split('\n').length}: ${what}`);
  };
  const check = ({ source, flags, start }: Pattern) => {
    const written = `/${source}/${flags}`;
    const problem = problemOf(source, flags);
    if (problem !== undefined) complain(start, `${written} ${problem}`);
  };
  new Visitor({
    Literal(node) {
      if ('regex' in node) check({ source: node.regex.pattern, flags: node.regex.flags, ...node });
    },
    NewExpression({ callee, arguments: [first, second], start }) {
      if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
      const isText = first?.type === 'Literal' && typeof first.value === 'string';
      const flags = second?.type === 'Literal' ? String(second.value) : '';
      if (isText) check({ source: first.value, flags, start });
      else if (!Object.hasOwn(builders, file)) {
        complain(start, 'builds a pattern at run time; use a literal, so that it can be checked');
      }
    },
  }).visit(parseSync(file, text).program);
  return complaints;
}

function problemOf(source: string, flags: string): string | undefined {
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: !flags.includes('y') } });
  const [report] = reports;
  if (report === undefined) return reentrance(source, flags);
  const growth = report.exponential ? 'exponential' : 'polynomial';
  return `takes ${growth} time on a text such as ${JSON.stringify(report.character.pick.repeat(3))}…`;
}

/**
 * A pattern that may begin anywhere, and then matches over further beginnings of itself: without a match of
 * its end, each beginning is scanned again. The analyzer does not check this.
 */
function reentrance(source: string, flags: string): string | undefined {
  if (source.startsWith('^') || flags.includes('y')) return undefined;
  const start = /^(?:\\\W|[^\\[(.*+?{|^$])+/.exec(source)?.[0].replaceAll(/\\(?=\W)/g, '') ?? '';
  if (start === '') return undefined;
  const runs = source.matchAll(
    /(\[\^(?:\\.|[^\]\\]){1,40}\]|\[\\s\\S\]|\.)[*+](?!(?:\\?.\?|\))*$)/g,
  );
  for (const [, set = ''] of runs) {
    if (!new RegExp(`^${set}+$`).test(start)) continue;
    return `reads over ${JSON.stringify(start)}, with which it begins: polynomial time`;
  }
  return undefined;
}
