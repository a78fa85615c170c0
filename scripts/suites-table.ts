import { suites, type Suite } from './suites.ts';

const start = '<!-- npm run docs writes this table from scripts/suites.ts -->';
const end = '<!-- end of the table -->';

/** The page with a new table of suites between its two marks. */
export function withSuitesTable(page: string): string {
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from === -1 || to === -1) throw new Error('CONTRIBUTING.md lacks the marks of the table');
  return `${page.slice(0, from)}${start}\n${table()}\n${page.slice(to)}`;
}

function table(): string {
  return [
    '| suite | content | folders | needs | group | minutes | run by |',
    '|---|---|---|---|---|---|---|',
    ...suites.map((suite) => `| ${cells(suite).join(' | ')} |`),
  ].join('\n');
}

function cells(suite: Suite): string[] {
  return [
    `\`${suite.name}\``,
    suite.content,
    suite.folders.map((folder) => `\`${folder}\``).join(', '),
    needs(suite),
    suite.group,
    String(suite.minutes),
    suite.script === 'test' ? '`npm test`' : `\`npm run ${suite.script}\``,
  ];
}

/** Parts and programs; most Debian packages are tools that every Linux machine of a developer has. */
function needs({ parts, programs, debianPackages }: Suite): string {
  const built = [...parts, ...programs];
  return [...built, ...(built.length === 0 ? debianPackages : [])].join(', ') || 'only Node';
}
