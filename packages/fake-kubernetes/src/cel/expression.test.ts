import { describe, expect, test } from 'vitest';
import { parseExpression } from './expression.ts';

const self = {
  replicas: 3,
  min: 1,
  name: 'web-1',
  tags: ['a', 'b'],
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
  labels: { app: 'web', 'a-b': 'c' },
  'a-b': 1,
  namespace: 'x',
  share: 1.5,
};

const evaluate = (source: string) => parseExpression(source).evaluate({ self });

describe('CEL', () => {
  test.each<readonly [string, unknown]>([
    ['self.replicas >= self.min', true],
    ['self.replicas * 2 + 1 == 7', true],
    ['7 / 2', 3n],
    ['-7 % 4', -3n],
    ['self.share > 1.0', true],
    ['self.name.startsWith("web") && self.name.matches("^[a-z]+-[0-9]$")', true],
    ["self.tags.all(t, t.matches('^[a-z]$'))", true],
    ["self.name.matches('(?i)WEB')", true],
    ["self.name.split('-')[1]", '1'],
    ["'a' in self.tags", true],
    ["'app' in self.labels && self.labels['a-b'] == 'c'", true],
    ['self.tags.all(t, t.size() == 1)', true],
    ['self.ports.exists(p, p.port == 443)', true],
    ['self.ports.exists_one(p, p.port > 50)', false],
    ['self.ports.map(p, p.name)', ['http', 'https']],
    ['self.ports.filter(p, p.port < 100).map(p, p.port)', [80n]],
    ['self.ports.map(p, p.port > 100, p.name)', ['https']],
    ['has(self.replicas) && !has(self.absent)', true],
    ['self.replicas > 2 ? "many" : "few"', 'many'],
    ['false && self.absent == 1', false],
    ['self.absent == 1 || true', true],
    ['size(self.labels) == 2', true],
    ['self.a__dash__b == 1', true],
    ['self.__namespace__ == "x"', true],
    ['[1, 2] + [3] == [1, 2, 3]', true],
    ['{"a": 1}.a', 1n],
    ["r'\\d' + '\\n'", '\\d\n'],
    ['string(self.replicas) + "!"', '3!'],
    ["isIP('10.0.0.1') && ip('10.0.0.1').family() == 4", true],
    ["string(ip('10.0.0.1'))", '10.0.0.1'],
    ["cidr('10.0.0.0/8').containsIP('10.1.2.3')", true],
    ["cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))", true],
    ["cidr('10.0.0.0/8').prefixLength()", 8n],
    ["isURL('https://example.org')", true],
    ["self.name.replace('web', 'api')", 'api-1'],
    ["self.name.find('[0-9]+')", '1'],
    ['cel.bind(n, self.replicas, n + n)', 6n],
    ['self.tags.isSorted() && self.tags.join(",") == "a,b"', true],
    ['self.ports.map(p, p.port).sum() == 523 && self.ports.map(p, p.port).max() == 443', true],
    ['self.tags.indexOf("b")', 1n],
    ['self.?absent.orValue(3)', 3n],
    ['duration("1h") > duration("1m")', true],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  test.each([
    ['self.absent', 'no such key: absent'],
    ['self.tags[5]', 'index out of bounds: 5'],
    ['1 / 0', 'division by zero'],
    ['self.name > 1', 'no such overload'],
    ["ip('none')", 'IP Address "none" parse error during conversion from string'],
    ['self.replicas.matches("3")', 'no such overload'],
    ['self.name.matches("(?=web)")', 'error parsing regexp'],
    ['self.name.find("(")', 'error parsing regexp'],
    ['unheard(1)', "found no matching overload for 'unheard(int)'"],
  ])('%s: %s', (source, message) => {
    expect(() => evaluate(source)).toThrow(message);
  });

  test.each(['self.', '1 +', 'a b', '(1', "'open"])(
    'rejects the invalid expression %s',
    (source) => {
      expect(() => parseExpression(source)).toThrow();
    },
  );

  test('matches() and find() end with every pattern and text', () => {
    const long = { name: `${'a'.repeat(10_000)}!` };
    const rule = (source: string) => parseExpression(source).evaluate({ self: long });
    expect(rule("self.name.matches('(a+)+$')")).toBe(false);
    expect(rule("self.name.find('(a+)+$')")).toBe('');
    expect(() => rule("self.name.matches('(a{1000}){1}(a{1000}){1}b')")).toThrow(
      'actual cost limit exceeded',
    );
  });

  test('a rule that reads oldSelf is a transition rule', () => {
    expect(parseExpression('self == oldSelf').isTransition).toBe(true);
    expect(parseExpression('self.all(x, x > 1)').isTransition).toBe(false);
  });
});
