import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { completionScript } from './completion.ts';
import { buildProgram } from './program.ts';

function completeInBash(...words: string[]): string[] {
  const script = `${completionScript('bash', buildProgram())}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_causeway
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shell = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(shell.stderr).toBe('');
  return shell.stdout.trim().split('\n');
}

test('bash completes commands, their options and the choices of their arguments', () => {
  expect(completeInBash('causeway', 'comp')).toEqual(['completion']);
  expect(completeInBash('causeway', 'completion', 'z')).toEqual(['zsh']);
  expect(completeInBash('causeway', '--ver')).toEqual(['--version']);
  expect(completeInBash('causeway', 'controller', '--log-level', 'w')).toEqual(['warn']);
});

test('fish gets a line for every command', () => {
  const script = completionScript('fish', buildProgram());
  expect(script).toContain("-a 'completion'");
  expect(script).toContain("'__fish_seen_subcommand_from completion' -f -a 'fish'");
});
