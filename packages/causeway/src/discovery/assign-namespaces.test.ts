import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignNamespaces, type NamespaceOptions } from './assign-namespaces.ts';
import { isPlainLabel, labelKey } from './names.ts';

const project = (id: string, name: string, domainId = 'default') => ({ id, name, domainId });
const options: NamespaceOptions = {
  backend: 'east',
  template: '{project}',
  residents: new Map(),
};
const assign = (projects: ReturnType<typeof project>[], changes: Partial<NamespaceOptions> = {}) =>
  Object.fromEntries(assignNamespaces(projects, { ...options, ...changes }));

describe('the namespace of a project', () => {
  test.each([
    ['shop', 'shop'],
    ['Shop', 'shop-0eb5b8d6f8'],
    ['Größe 1', 'grosse-1-0eb5b8d6f8'],
    ['', 'project-0eb5b8d6f8'],
    ['x'.repeat(255), `${'x'.repeat(52)}-0eb5b8d6f8`],
    ['kube-system', 'kube-system-0eb5b8d6f8'],
    ['default', 'default-0eb5b8d6f8'],
    ['openshift', 'openshift-0eb5b8d6f8'],
    ['shop-0123456789', 'shop-0123456789-0eb5b8d6f8'],
  ])('%j', (name, expected) => {
    const [made] = Object.values(assign([project('a', name)]));
    expect(made).toBe(expected);
  });

  test('applies the backend, domain and id placeholders of a template', () => {
    const all = assign([project('a1', 'shop', 'd1')], {
      template: '{backend}-{domainId}-{project}',
    });
    expect(all).toEqual({ a1: 'east-d1-shop' });
    expect(assign([project('a1', 'Shop')], { template: 'os-{projectId}' })).toEqual({
      a1: 'os-a1',
    });
  });

  test('keeps a shared name with the project that has Services there', () => {
    const both = [project('a', 'shop', 'd1'), project('b', 'shop', 'd2')];
    expect(assign(both)['a']).toBe('shop');
    const all = assign(both, { residents: new Map([['shop', new Set(['b'])]]) });
    expect(all['b']).toBe('shop');
    expect(all['a']).toMatch(/^shop-[0-9a-f]{10}$/);
  });

  test('keeps the namespace of a project that is missing for a cycle', () => {
    const [first, second] = [project('a', 'shop', 'd1'), project('b', 'shop', 'd2')];
    const before = assign([first, second]);
    const residents = residentsOf(before);
    expect(assign([second], { residents })).toEqual({ b: before['b'] });
    expect(assign([first, second], { residents })).toEqual(before);
    // A new project does not get a namespace that still has objects of the other project.
    expect(assign([project('c', 'shop', 'd3')], { residents })['c']).toMatch(/^shop-/);
  });

  test('frees a name at once when its project no longer uses it', () => {
    const residents = new Map([['shop', new Set(['a'])]]);
    const all = assign([project('a', 'store'), project('b', 'shop')], { residents });
    expect(all).toEqual({ a: 'store', b: 'shop' });
  });
});

/** As if every project had objects in its namespace. */
function residentsOf(assigned: Readonly<Record<string, string>>) {
  return new Map(
    Object.entries(assigned).map(([id, namespace]) => [namespace, new Set([labelKey(id)])]),
  );
}

const anyProject = fc.record({
  id: fc.uuid(),
  name: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 255 }),
    fc.constantFrom('shop', 'Shop', 'shop ', 'default', 'a-0123456789'),
  ),
  domainId: fc.constantFrom('default', 'partners'),
});
const anyProjects = fc.uniqueArray(anyProject, { selector: ({ id }) => id, maxLength: 30 });

test("assigns valid, distinct namespaces outside of the system's, for any projects", () => {
  fc.assert(
    fc.property(anyProjects, (projects) => {
      const all = assignNamespaces(projects, options);
      expect(new Set(all.values()).size).toBe(projects.length);
      for (const namespace of all.values()) {
        expect(isPlainLabel(namespace)).toBe(true);
        expect(namespace).not.toMatch(/^(default|kube-system)$/);
      }
    }),
  );
});

test('keeps the namespaces of the other projects when a project appears or disappears', () => {
  fc.assert(
    fc.property(anyProjects, anyProjects, (before, others) => {
      const first = assignNamespaces(before, options);
      const stay = before.filter((_, index) => index % 2 === 0);
      const after = [...others.filter(({ id }) => !first.has(id)), ...stay];
      const residents = residentsOf(Object.fromEntries(first));
      const second = assignNamespaces(after, { ...options, residents });
      for (const { id } of stay) expect(second.get(id)).toBe(first.get(id));
      expect(new Set(second.values()).size).toBe(after.length);
    }),
  );
});
