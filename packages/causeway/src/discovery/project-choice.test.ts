import { expect, test } from 'vitest';
import { chooseProjects } from './project-choice.ts';

const project = (name: string, enabled = true) => ({ id: `id-${name}`, name, enabled });
const all = [project('a'), project('b'), project('c', false)];
const names = (projects: readonly { readonly name: string }[]) => projects.map(({ name }) => name);

function choose(only: string[], except: string[], isOpen: (name: string) => boolean = () => true) {
  const chosen = chooseProjects(all, { only, except }, ({ name }) => isOpen(name));
  return {
    open: names(chosen.open),
    disabled: names(chosen.disabled),
    leftOut: names(chosen.leftOut),
    unknown: chosen.unknown,
  };
}

test.each([
  ['all', [], [], { open: ['a', 'b'], disabled: ['c'], leftOut: [], unknown: [] }],
  ['only some', ['a'], [], { open: ['a'], disabled: [], leftOut: ['b', 'c'], unknown: [] }],
  ['one by id', ['id-b'], [], { open: ['b'], disabled: [], leftOut: ['a', 'c'], unknown: [] }],
  ['all except some', [], ['a'], { open: ['b'], disabled: ['c'], leftOut: ['a'], unknown: [] }],
  [
    'none for unknown names',
    ['aa'],
    ['bb'],
    { open: [], disabled: [], leftOut: ['a', 'b', 'c'], unknown: ['aa', 'bb'] },
  ],
])('chooses %s', (_, only, except, expected) => {
  expect(choose(only, except)).toEqual(expected);
});

test('leaves out the other projects if the credentials are for one', () => {
  const expected = { open: ['b'], disabled: [], leftOut: ['a', 'c'], unknown: [] };
  expect(choose([], [], (name) => name === 'b')).toEqual(expected);
});
