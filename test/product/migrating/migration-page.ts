import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { repository } from '../running-playground.ts';

const folder = path.join(repository, 'docs', 'migrating');

export const pageNames = fs.readdirSync(folder).map((file) => path.basename(file, '.md'));
export const pageText = (name: string) => fs.readFileSync(path.join(folder, `${name}.md`), 'utf8');

/** A numbered step of a page. */
export interface PageStep {
  /** The heading above it. */
  readonly section: string;
  readonly number: number;
  readonly text: string;
  /** The commands in it. */
  readonly commands: readonly string[];
}

export function stepsOf(name: string): PageStep[] {
  const steps: PageStep[] = [];
  let section = '';
  for (const line of pageText(name).split('\n')) {
    section = /^## (.+)/.exec(line)?.[1] ?? section;
    const [, number, text = ''] = /^(\d+)\. (.+)/.exec(line) ?? [];
    if (number === undefined) continue;
    const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
    const commands = spans.filter((span) => /^(?:kubectl|causeway|openstack) /.test(span));
    steps.push({ section, number: Number(number), text, commands });
  }
  return steps;
}

/** A page of docs/migrating with steps that are tests, in order and with the page's commands. */
export class MigrationPage {
  readonly #steps: readonly PageStep[];
  readonly #name: string;
  readonly #done: PageStep[] = [];
  #hasFailed = false;

  constructor(name: string) {
    this.#name = name;
    this.#steps = stepsOf(name);
  }

  /** The settings on the page. */
  settings(): Record<string, Record<string, unknown>> {
    const [, text = ''] = /```yaml\n([^]*?)```/.exec(pageText(this.#name)) ?? [];
    return parse(text) as Record<string, Record<string, unknown>>;
  }

  /** Runs a step of the page. */
  step(section: string, number: number, work: (step: PageStep) => Promise<void>): void {
    const step = this.#steps.find((each) => each.section === section && each.number === number);
    if (step === undefined) throw new Error(`${this.#name} has no step ${number} in "${section}"`);
    this.#done.push(step);
    test(`${section}, step ${number}: ${step.text}`, async ({ skip }) => {
      // Each step builds on the previous ones.
      if (this.#hasFailed) skip();
      this.#hasFailed = true;
      await work(step);
      this.#hasFailed = false;
    });
  }

  /** To be called last: a step without a test is a fault of the page or of the test. */
  end(): void {
    test('no step is left out', () => {
      expect(this.#done).toEqual(this.#steps);
    });
  }
}
