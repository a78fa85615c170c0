import { describe, expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';
import { parse } from './parse.ts';

const self = {
  replicas: 3,
  min: 1,
  name: 'web-1',
  tags: ['a', 'b'],
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
  labels: { app: 'web' },
  'a-b': 1,
  namespace: 'x',
};

describe('CEL', () => {
  test.each<readonly [string, unknown]>([
    ['self.replicas >= self.min', true],
    ['self.replicas * 2 + 1 == 7', true],
    ['7 / 2', 3],
    ['-7 % 4', -3],
    ['self.name.startsWith("web") && self.name.matches("^[a-z]+-[0-9]$")', true],
    ["self.name.split('-')[1]", '1'],
    ["'a' in self.tags", true],
    ["'app' in self.labels", true],
    ['self.tags.all(t, t.size() == 1)', true],
    ['self.ports.exists(p, p.port == 443)', true],
    ['self.ports.exists_one(p, p.port > 50)', false],
    ['self.ports.map(p, p.name)', ['http', 'https']],
    ['self.ports.filter(p, p.port < 100).map(p, p.port)', [80]],
    ['self.ports.map(p, p.port > 100, p.name)', ['https']],
    ['has(self.replicas) && !has(self.absent)', true],
    ['self.replicas > 2 ? "many" : "few"', 'many'],
    ['false && self.absent == 1', false],
    ['self.absent == 1 || true', true],
    ['size(self.labels) == 1', true],
    ['self.a__dash__b == 1', true],
    ['self.__namespace__ == "x"', true],
    ['[1, 2] + [3] == [1, 2, 3]', true],
    ['{"a": 1}.a', 1],
    ["r'\\d' + '\\n'", '\\d\n'],
    ['string(self.replicas) + "!"', '3!'],
    ["isIP('10.0.0.1') && ip('10.0.0.1').family() == 4", true],
    ["cidr('10.0.0.0/8').containsIP('10.1.2.3')", true],
    ['cel.bind(n, self.replicas, n + n)', 6],
    ['self.tags.isSorted() && self.tags.join(",") == "a,b"', true],
  ])('%s', (source, value) => {
    expect(evaluate(parse(source), { self })).toEqual(value);
  });

  test.each([
    ['self.absent', 'no such key: absent'],
    ['self.tags[5]', 'index out of bounds: 5'],
    ['1 / 0', 'division by zero'],
    ['self.name > 1', 'no such overload'],
    ['unheard(1)', 'the function unheard is not known here'],
  ])('%s: %s', (source, message) => {
    expect(() => evaluate(parse(source), { self })).toThrow(message);
  });

  test.each(['self.', '1 +', 'a b', '(1', "'open"])(
    'rejects the invalid expression %s',
    (source) => {
      expect(() => parse(source)).toThrow();
    },
  );
});
