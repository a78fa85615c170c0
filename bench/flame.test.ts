import { expect, test } from 'vitest';
import { flameGraph, hottest, type CpuProfile } from './flame.ts';

const frame = (functionName: string, file: string) => ({
  functionName,
  url: file === '' ? '' : `file:///home/somebody/secret/project/src/${file}`,
  lineNumber: 9,
});
/** root calls plan, which calls <fill>; the rest of the time is idle. */
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)', ''), children: [2, 4] },
    { id: 2, callFrame: frame('plan', 'layout.ts'), children: [3] },
    { id: 3, callFrame: frame('<fill>', 'slots.ts') },
    { id: 4, callFrame: frame('(idle)', '') },
  ],
  samples: [2, 3, 3, 4],
  timeDeltas: [1_000, 2_000, 1_000, 50_000],
};

test('a function is as wide as its time with all its callees', () => {
  const svg = flameGraph(profile, 'a run');
  const widthOf = (name: string) =>
    Number(
      new RegExp(`<title>${name}[^<]*</title>\\n<rect x="[\\d.]+" y="\\d+" width="([\\d.]+)"`).exec(
        svg,
      )?.[1],
    );
  expect(widthOf('plan')).toBe(widthOf('all'));
  expect(widthOf('&lt;fill&gt;')).toBeCloseTo(900, -1);
});

test('idle time is excluded, and no paths of the machine are shown', () => {
  const svg = flameGraph(profile, 'a run');
  expect(svg).toContain('0.0 s of work');
  expect(svg).not.toContain('(idle)');
  expect(svg).not.toContain('somebody');
});

test('the hottest functions are those with the most self time', () => {
  expect(hottest(profile, 2)).toEqual([
    { place: '<fill> project/src/slots.ts:10', share: 0.75 },
    { place: 'plan project/src/layout.ts:10', share: 0.25 },
  ]);
});

test("loading modules is one box, and a module's own code is separate", () => {
  const loader = {
    functionName: 'link',
    url: 'node:internal/modules/esm/module_job',
    lineNumber: 1,
  };
  const svg = flameGraph(
    {
      nodes: [
        { id: 1, callFrame: frame('(root)', ''), children: [2] },
        { id: 2, callFrame: loader, children: [3, 4] },
        { id: 3, callFrame: { functionName: 'readFile', url: 'node:fs', lineNumber: 1 } },
        { id: 4, callFrame: frame('start', 'main.ts') },
      ],
      samples: [3, 4],
      timeDeltas: [1_000, 1_000],
    },
    'a start',
  );
  expect(svg).toContain('(loading modules)');
  expect(svg).toContain('start project/src/main.ts:10');
  expect(svg).not.toContain('readFile');
});
