import { expect, test } from 'vitest';
import { kubectlCompletion } from './kubectl-completion.ts';
import { buildProgram } from '../program.ts';

const program = await buildProgram();

/** The typed words, the completions of the last word, and whether kubectl completes file names instead. */
test.each([
  ['comp', ['completion'], false],
  ['completion z', ['zsh'], false],
  ['--ver', ['--version'], false],
  ['controller --log-level w', ['warn'], false],
  ['controller --log-level x', [], false],
  ['controller --config ', [], true],
  ['ipam clu', ['clusters'], false],
  ['ipam clusters cr', ['create'], false],
  // An operator's "status" is a different command than a gateway's.
  ['agent stat', ['status'], false],
  ['agent status --disc', [], true],
  // Words that are not commands are arguments.
  ['explain shop/web --kubec', ['--kubeconfig'], false],
])('after %j', (typed, expected, withFiles) => {
  const lines = kubectlCompletion(program, typed.split(' ')).trimEnd().split('\n');
  expect(lines.pop()).toBe(withFiles ? ':0' : ':4');
  expect(lines.map((line) => line.split('\t')[0])).toEqual(expected);
});

test('describes each completion, without additions of its own', async () => {
  const all = kubectlCompletion(await buildProgram(['kubectl-completion']), ['']);
  expect(all).toContain('doctor\tcheck this machine');
  expect(all).not.toContain('kubectl-completion');
});
