import fs from 'node:fs/promises';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Terms that the code does not use, with the words of docs/glossary.md to use instead. */
const privateTerms: Readonly<Record<string, string>> = {
  'circle circles': 'sharing group',
  'silent silence silences silenced': 'unhealthy, outage or idle',
  'lever levers': 'override',
  'knock knocks knocked knocking knocker': 'probe or connection attempt',
  'door doors': 'forwarder or listener',
  'tell tells told telling': 'send, notify or record an Event',
  news: 'change or notification',
  'look looks looked looking': 'check, read or reconcile',
  turns: 'rounds',
  'lane lanes': 'queue key',
  'calm calms calmed': 'debounce',
  settling: 'pending',
  'stray strays': 'orphan or stale conntrack entry',
  'guest guests': 'adopted object',
  possible: 'supported or allowed',
  'wish wishes wished': 'spec, request or desired state',
  'denial denials': 'rejection',
  unstoppable: 'not withdrawable',
  'ripe ripening': 'end of the quarantine',
  'breathe breathes': 'yield to the event loop',
  meanwhile: 'in the meantime',
  'blame blames blamed': 'cause',
  'pack packs packed': 'batch or compress',
  'desk desks': 'allocator',
  'board boards': 'ConfigMap or row store',
  'played playing': 'simulated',
  plainly: 'a name that says what differs',
  'book books': 'records',
};
const glossaryWords = new Map(
  Object.entries(privateTerms).flatMap(([terms, instead]) =>
    terms.split(' ').map((term) => [term, instead] as const),
  ),
);

const product = /^(?:packages\/causeway\/src|test|bench)\//;
/** Tests of keepalived and of backups, and the settings of agents in tests. */
const tests = /^(?:test|bench)\//;
const announcers = /^packages\/causeway\/src\/gateway\/agent\/announce\//;
const keepalived = /^packages\/causeway\/src\/gateway\/agent\/announce\/keepalived\//;
/** A backup of the allocator and a backup member of Octavia are different concepts. */
const backups = /^packages\/causeway\/src\/(?:ipam|octavia|discovery|cli\/ipam)\//;
/** The test for programs that are not installed names keepalived as a program. */
const programs = /^packages\/causeway\/src\/playground\/needed-programs\.ts$/;

/** Code that signs or reads JSON Web Tokens, its tests, and tests of Kubernetes volume claims. */
const tokens: readonly RegExp[] = [
  /^packages\/causeway\/src\/gateway\/(?:protocol|agent\/api)\//,
  /^packages\/causeway\/src\/gateway\/controller\/(?:fleet\/v1-|migration\.test)/,
  /^test\/(?:product\/migrating|fuzz|contract\/(?:kubernetes-resources|agent))\//,
];

interface LocalTerm {
  readonly instead: string;
  /** The files that may use the term in identifiers and in their path. */
  readonly allowed: readonly RegExp[];
}

/** Terms of one announcer and of tokens, which identifiers and file names of other code do not use. */
const localTerms: ReadonlyMap<string, LocalTerm> = new Map([
  ...termsFor(['vrrp'], 'announcer', [keepalived, tests]),
  ...termsFor(['keepalived'], 'announcer', [announcers, programs, tests]),
  ...termsFor(['advert', 'adverts'], "peer's sign", [keepalived, tests]),
  ...termsFor(['master', 'masters'], 'active', [keepalived]),
  ...termsFor(['backup', 'backups'], 'standby', [keepalived, backups, tests]),
  ...termsFor(
    ['claim', 'claims', 'claimed', 'claimant', 'claimants', 'unclaimed'],
    'request, allocation, owner, confirm or unmatched',
    tokens,
  ),
]);

function termsFor(terms: readonly string[], instead: string, allowed: readonly RegExp[]) {
  return terms.map((term): [string, LocalTerm] => [term, { instead, allowed }]);
}

/** Words for components that messages do not use: they name the component instead. */
const vagueWords =
  /\b(?:who|whom|whose|whoever|somebody|someone|nobody|anybody|what is|one that)\b/i;

/** Texts of other programs, and the files that hold the words of old stored forms. */
const foreignTexts: readonly RegExp[] = [
  /^(?:\.\/)?who-has(?:\.ts)?$/,
  /--silen(?:t|ce-skips)\b/,
  /^pack$|--pack-destination/,
  /<circle /,
];
const legacyFile = /(?:^|\/)legacy\.ts$/;
/** The embedded doubles repeat the messages of the programs that they stand for. */
const doubles = /^packages\/fake-/;
const self = /^scripts\/vocabulary(?:\.test)?\.ts$/;

/** One line for each private term in a file name, an identifier or a message. */
export async function findPrivateTerms(root: string): Promise<string[]> {
  const found: string[] = [];
  const pattern = '{packages,scripts,bin,test,bench}/**/*.{ts,js}';
  for await (const file of fs.glob(pattern, { cwd: root, exclude: ['**/node_modules/**'] })) {
    if (legacyFile.test(file) || self.test(file)) continue;
    found.push(...privateTermsIn(file, await fs.readFile(path.join(root, file), 'utf8')));
  }
  return found.sort();
}

export function privateTermsIn(file: string, text: string): string[] {
  const found: string[] = [];
  const lineOf = (start: number) => text.slice(0, start).split('\n').length;
  const check = (kind: string, words: string, start: number) => {
    for (const word of wordsOf(words)) {
      const instead = glossaryWords.get(word);
      if (instead === undefined) continue;
      found.push(`${file}:${lineOf(start)}: ${kind} "${word}": use ${instead}`);
    }
  };
  const checkName = (kind: string, words: string, start: number) => {
    check(kind, words, start);
    if (!product.test(file)) return;
    for (const word of wordsOf(words)) {
      const term = localTerms.get(word);
      if (term === undefined || term.allowed.some((each) => each.test(file))) continue;
      found.push(`${file}:${lineOf(start)}: ${kind} "${word}": not here; use ${term.instead}`);
    }
  };
  checkName('file name', path.basename(file), 0);
  const isTest = file.endsWith('.test.ts') || file.startsWith('test/') || file.startsWith('bench/');
  const message = (words: string, start: number) => {
    if (doubles.test(file) || foreignTexts.some((each) => each.test(words))) return;
    check('message', words, start);
    const vague = isTest ? null : vagueWords.exec(words);
    if (vague !== null) found.push(`${file}:${lineOf(start)}: message "${vague[0]}": name it`);
  };
  new Visitor({
    Identifier: ({ name, start }) => checkName('identifier', name, start),
    PrivateIdentifier: ({ name, start }) => checkName('identifier', name, start),
    Literal(node) {
      if (typeof node.value === 'string') message(node.value, node.start);
    },
    TemplateElement: ({ value, start }) => message(value.raw, start),
  }).visit(parseSync(file, text).program);
  return found;
}

/** The words of an identifier or a text: `lookAgain`, `look-again` and "look again" have the same two. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/);
}
