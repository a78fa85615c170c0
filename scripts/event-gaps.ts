import fs from 'node:fs';
import path from 'node:path';
import { eventsByComponent } from '../packages/causeway/src/cli/event-definitions.ts';

const root = path.dirname(import.meta.dirname);

/**
 * The modules that run a component for a test, by the component in `eventsByComponent`. A test of pure
 * functions imports none of them.
 */
const harnesses: Readonly<Record<string, readonly string[]>> = {
  'Gateway provider': ['/simulated-provider.testing.ts'],
  'Octavia provider': ['/octavia/embedded-lab.ts'],
  'Pool provider': ['/pool/cluster-under-test.ts', './pool-provider.ts'],
  Discovery: ['/discovery/embedded-world.ts'],
  Idling: ['./unidling-controller.ts'],
  'Node proxy': ['./run-proxy.ts', './wrap.ts'],
};

/** Every provider runs the controller, so that the Events of the controller occur in all of their tests. */
const ofController = [
  './service-controller.ts',
  './orphan-register.ts',
  ...Object.values(harnesses).flat(),
];

/** The tests in these folders run the product or a component of it. */
const folders =
  /^test\/(?:simulation|product|cluster|kernel|cloud|contract\/(?:discovery|egress-firewall|idling|pool|proxy|services))\//;

/**
 * Defined Events that no source records, and Events that no test with the real component asserts. A test
 * counts if it is in one of the folders, or if it imports a harness of the component. The compiler rejects
 * the opposite, an Event without a definition.
 */
export function eventGaps(): string[] {
  const files = ['packages', 'test'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(folder, file))
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules')),
  );
  const isTest = (file: string) => file.endsWith('.test.ts');
  const used = wordsOf(
    files
      .filter((file) => !isTest(file))
      .map(read)
      .filter((text) => !text.includes('defineEvent(')),
  );
  const tests = files.filter(isTest).map((file) => ({ file, text: read(file) }));
  return Object.entries(eventsByComponent).flatMap(([component, events]) => {
    const modules = harnesses[component] ?? ofController;
    const runsComponent = ({ file, text }: { file: string; text: string }) =>
      folders.test(file) || modules.some((module) => text.includes(`${module}'`));
    const tested = wordsOf(tests.filter(runsComponent).map(({ text }) => text));
    return Object.keys(events).flatMap((reason) => [
      ...(used.has(reason) ? [] : [`no source records the Event ${reason}`]),
      ...(tested.has(reason)
        ? []
        : [`no test with the real component asserts the Event ${reason} (${component})`]),
    ]);
  });
}

function wordsOf(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => text.match(/\b[A-Z][A-Za-z0-9]+\b/g) ?? []));
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}
