import { describe, expect, test } from 'vitest';
import { focusOf, readReport } from './report.ts';

describe('the report of upstream tests', () => {
  test('names tests in full, and leaves out tests that were not selected', () => {
    const spec = (LeafNodeText: string, State: string, Message?: string) => ({
      LeafNodeType: 'It',
      LeafNodeText,
      State,
      RunTime: 2e9,
      ContainerHierarchyTexts: ['[sig-network] Services'],
      ...(Message === undefined ? {} : { Failure: { Message } }),
    });
    const specs = [
      spec('should serve', 'passed'),
      spec('should work', 'timedout', 'too slow\nmore'),
      spec('should skip', 'skipped', 'only on gce'),
      spec('not chosen', 'skipped'),
      spec('not chosen either', 'pending'),
    ];
    const outcomes = readReport(JSON.stringify([{ SpecReports: specs }, { SpecReports: null }]));
    expect(outcomes.map(({ name, state, message }) => [name, state, message])).toEqual([
      ['[sig-network] Services should serve', 'passed', ''],
      ['[sig-network] Services should work', 'failed', 'too slow'],
      ['[sig-network] Services should skip', 'skipped', 'only on gce'],
    ]);
  });

  test('a focus matches a name with brackets, and not a longer one', () => {
    const pattern = new RegExp(focusOf(['[sig-network] a (b)']));
    expect(pattern.test('[sig-network] a (b)')).toBe(true);
    expect(pattern.test('[sig-network] a (b) c')).toBe(false);
  });
});
