import { expect, test } from 'vitest';
import { Progress, ProgressBars } from './progress.ts';

function screen(isTTY: boolean) {
  let text = '';
  const write = (more: string) => (text += more);
  return { isTTY, columns: 60, write, lines: () => text.split('\r\u001b[K').slice(1) };
}

test('fills the bar, and clears it for printed text', () => {
  const terminal = screen(true);
  const progress = new Progress('Waking', 4, terminal);
  progress.step('shop/web');
  progress.around(() => terminal.write('shop/web: awake\n'));
  progress.step('a-namespace-with-a-very-long-name/and-a-service-with-one');
  progress.clear();
  expect(terminal.lines()).toEqual([
    `Waking ${'·'.repeat(24)} 0/4`,
    `Waking ${'█'.repeat(6)}${'·'.repeat(18)} 1/4 shop/web`,
    'shop/web: awake\n',
    `Waking ${'█'.repeat(6)}${'·'.repeat(18)} 1/4`,
    `Waking ${'█'.repeat(12)}${'·'.repeat(12)} 2/4 a-namespace-with-a-very-long`.slice(0, 59),
    '',
  ]);
});

test.each([
  ['into a pipe', false, 5],
  ['for one thing', true, 1],
])('draws nothing %s', (_where, isTTY, total) => {
  const terminal = screen(isTTY);
  const progress = new Progress('Waking', total, terminal);
  progress.step('shop/web');
  progress.clear();
  expect(terminal.lines()).toEqual([]);
});

test('draws one bar for each part of the work, and clears the last one', () => {
  const terminal = screen(true);
  const bars = new ProgressBars(terminal);
  bars.begin('Checking', 2);
  bars.step('services');
  bars.begin('Deleting', 2);
  bars.clear();
  expect(terminal.lines()).toEqual([
    `Checking ${'·'.repeat(24)} 0/2`,
    `Checking ${'█'.repeat(12)}${'·'.repeat(12)} 1/2 services`,
    '',
    `Deleting ${'·'.repeat(24)} 0/2`,
    '',
  ]);
});
