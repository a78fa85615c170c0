import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { agentSettings } from '../packages/causeway/src/gateway/agent/settings.ts';
import { controllerCommandSettings } from '../packages/causeway/src/cli/controller/load-settings.ts';
import { buildProgram } from '../packages/causeway/src/cli/program.ts';
import { loadConfig } from '../packages/base/src/settings/load-settings.ts';
import { discoverySettings } from '../packages/causeway/src/discovery/settings.ts';
import { ipamServerSettings } from '../packages/causeway/src/ipam/settings.ts';

const root = path.dirname(import.meta.dirname);
const docs = (await fs.readdir(path.join(root, 'docs'), { recursive: true }))
  .filter((file) => file.endsWith('.md') && !file.startsWith('decisions'))
  .map((file) => path.join('docs', file));
const pages = [...docs, 'README.md', 'CONTRIBUTING.md'];
const textOf = (page: string) => fs.readFile(path.join(root, page), 'utf8');
const program = await buildProgram();

test.each(pages)('every command of %s exists, with its options', async (page) => {
  const lines = commandsIn(await textOf(page));
  expect(lines.map((line) => [line, problemWith(line)]).filter(([, problem]) => problem)).toEqual(
    [],
  );
});

test.each(pages)('the settings in %s are valid', async (page) => {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-examples-'));
  const file = path.join(directory, 'settings.yaml');
  try {
    for (const text of settingsIn(await textOf(page))) {
      await fs.writeFile(file, text);
      await loadConfig(schemaFor(text), { file, environment: {}, flags: {} });
    }
  } finally {
    await fs.rm(directory, { recursive: true });
  }
});

/** Commands in examples and in sentences, each without the surrounding pipeline. */
function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh|console)\n([^]*?)^```/gm)].map(
    ([, block = '']) => block,
  );
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...lines, ...spans].flatMap((line) => {
    const [, command] = /^(?:\$ )?(?:kubectl |npx )?(causeway .*)/.exec(line) ?? [];
    const parts = (command ?? '').replace(/ #.*/, '').split(/ (?:\||&&|&|;)(?: |$)/);
    return parts.filter((part) => /^causeway [a-z-]/.test(part));
  });
}

function problemWith(line: string): string | undefined {
  const words = line
    .replaceAll(/'[^']*'|"[^"]*"/g, 'quoted')
    .split(/\s+/)
    .slice(1);
  let command: Command = program;
  for (;;) {
    const next = command.commands.find((each) => each.name() === words[0]);
    if (next === undefined) break;
    command = next;
    words.shift();
  }
  if (command === program && words[0]?.startsWith('-') !== true) return `no command ${words[0]}`;
  const known = [command, program, ...command.commands].flatMap(({ options }) => options);
  const names = new Set(['-h', '--help', ...known.flatMap(({ short, long }) => [short, long])]);
  const unknown = words.find(
    (word) => /^-{1,2}[a-z]/i.test(word) && !names.has(word.split('=')[0]),
  );
  return unknown === undefined ? undefined : `no option ${unknown}`;
}

/** Blocks of YAML that are neither objects of Kubernetes nor files of other programs. */
function settingsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']) => block);
  const shown = [...text.matchAll(/^\$ cat \S+\.yaml\n((?:[^$`\n].*\n)+)/gm)].map(
    ([, block = '']) => block,
  );
  return [...blocks, ...shown].filter((block) => {
    const keys = keysOf(block);
    return !['kind', 'clouds', 'resources'].some((key) => keys.includes(key));
  });
}

const keysOf = (text: string) => Object.keys(parse(text) as object);

function schemaFor(text: string): z.ZodType {
  const keys = keysOf(text);
  if (keys.includes('backends')) return discoverySettings;
  if (keys.includes('platforms')) return ipamServerSettings;
  return keys.includes('secretsFile') ? agentSettings : controllerCommandSettings;
}
