import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionScript } from '../../packages/causeway/src/cli/completion/completion.ts';
import { buildProgram } from '../../packages/causeway/src/cli/program.ts';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const hasShells = await isAvailable(() => ensureDebianPackages(['zsh', 'fish']));

/** The typed line, and the shell's completions of its last word. */
const lines: readonly (readonly [string, readonly string[]])[] = [
  ['causeway comp', ['completion']],
  ['causeway completion z', ['zsh']],
  ['causeway --ver', ['--version']],
  ['causeway controller --log-level w', ['warn']],
  ['causeway ipam clu', ['clusters']],
  ['causeway ipam clusters cr', ['create']],
  // An operator's "status" is another command than a gateway's.
  ['causeway agent stat', ['status']],
  ['causeway agent status --disc', []],
  // Words that are no commands are arguments.
  ['causeway explain shop/web --kubec', ['--kubeconfig']],
];

const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));

const scripts = { bash: '', zsh: '', fish: '' };
let directory = '';
beforeAll(async () => {
  directory = await scratchDirectory('completion');
  const program = await buildProgram();
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    scripts[shell] = path.join(directory, `causeway.${shell}`);
    await fs.writeFile(scripts[shell], completionScript(shell, program));
  }
});
afterAll(() => removeDirectory(directory));

const words = (text: string) => text.split('\n').filter((word) => word !== '');

async function offeredByBash(line: string): Promise<string[]> {
  const typed = line.split(' ');
  const script = `cd "$1"; source "$2"
COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${typed.length - 1}
_causeway
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return words(await runOrThrow('bash', ['--norc', '-c', script, 'bash', directory, scripts.bash]));
}

test.each(lines)('bash, after %j', async (line, expected) => {
  expect(await offeredByBash(line)).toEqual(expected);
});

describe.skipIf(!hasKubectl)('as a plug-in of a real kubectl', () => {
  const repository = path.join(import.meta.dirname, '..', '..');
  const kubectl = async (...typed: string[]) => {
    const program = await ensureProgram('kubectl');
    const PATH = `${directory}:${path.dirname(process.execPath)}:${process.env['PATH']}`;
    return runOrThrow(program, typed, { env: { PATH } });
  };
  beforeAll(async () => {
    const manifest = await fs.readFile(path.join(repository, 'package.json'), 'utf8');
    const { bin } = JSON.parse(manifest) as { bin: Record<string, string> };
    for (const [name, file] of Object.entries(bin)) {
      await fs.symlink(path.join(repository, file), path.join(directory, name));
    }
  });

  test('it is found, and runs', async () => {
    expect(await kubectl('plugin', 'list', '--name-only')).toContain('kubectl-causeway');
    expect(await kubectl('causeway', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  // All the others are a table beside packages/causeway/src/cli/completion/kubectl-completion.ts: each takes
  // seconds here.
  test.each(lines.filter(([line]) => line.startsWith('causeway ipam clu')))(
    'kubectl, after %j',
    async (line, expected) => {
      const [, ...typed] = line.split(' ');
      const offered = words(await kubectl('__complete', 'causeway', ...typed));
      const found = offered.filter((word) => !word.startsWith(':'));
      expect(found.map((word) => word.split('\t')[0])).toEqual(expected);
    },
  );
});

describe.skipIf(!hasShells)('with the other shells', () => {
  test.each(lines)('fish, after %j', async (line, expected) => {
    const script = `cd $argv[1]; source $argv[2]; complete --do-complete $argv[3]`;
    const found = await runOrThrow('fish', ['-N', '-c', script, directory, scripts.fish, line]);
    expect(words(found).map((word) => word.split('\t')[0])).toEqual(expected);
  });

  // A new user's shell without any setup. A key completes the line and runs it.
  test.each(lines.filter(([, offered]) => offered.length > 0))(
    'zsh, after %j',
    async (line, [only]) => {
      const script = `zmodload zsh/zpty
zpty typing zsh -f -i
zpty -w typing "HOME=$1; cd $1; source $2; causeway() { print ran: \\$@ }"
zpty -w typing 'finish() { zle expand-or-complete; zle accept-line }; zle -N finish; bindkey ^T finish'
zpty -w typing 'print set-$((1 + 1))'
zpty -r typing seen '*set-2*'
zpty -w -n typing "$3"$'\\C-t'
zpty -r typing seen $'*ran: *\\n'
zpty -d typing
print -r -- "\${seen##*ran: }"`;
      const words = ['-f', '-c', script, 'zsh', directory, scripts.zsh, line];
      const typed = line.split(' ').slice(1, -1);
      expect((await runOrThrow('zsh', words)).trim()).toBe([...typed, only].join(' '));
    },
  );
});
