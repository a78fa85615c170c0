import { expect, test } from 'vitest';
import { completionScript, shells } from './completion.ts';
import { buildProgram } from '../program.ts';

const program = await buildProgram();

test.each(shells)('%s completes every command', (shell) => {
  const script = completionScript(shell, program);
  for (const command of program.commands) {
    expect(script).toContain(`'${command.name()}'`);
    for (const child of command.commands) {
      expect(script).toContain(`'${command.name()} ${child.name()}'`);
    }
  }
});

test('loads only the commands that the words need', async () => {
  const named = async (...words: string[]) =>
    (await buildProgram(words)).commands.map((command) => command.name());
  expect(await named('agent', 'run')).toEqual(['agent']);
  expect(await named('completion', 'bash')).toHaveLength(program.commands.length);
  for (const words of [[], ['--help'], ['help', 'agent'], ['agnet'], ['constructor']]) {
    expect(await named(...words)).toHaveLength(program.commands.length);
  }
});
