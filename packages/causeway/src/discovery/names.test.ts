import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainLabel, labelKey, labelValue, plainText, portName, serviceName } from './names.ts';

const id = '5f2c8a1e-0d3b-4c6f-9a7e-112233445566';
const long = 'x'.repeat(255);

describe('names of Services', () => {
  test.each([
    ['web', `east-web-${id}`],
    ['', `east-${id}`],
    ['Web Front_End', `east-web-front-end-${id}`],
    ['Büro', `east-buro-${id}`],
    ['Straße', `east-strasse-${id}`],
    ['--web--', `east-web-${id}`],
    ['日本', `east-${id}`],
    ['kube_service_prod_ns_name', 'east-kube-service-prod-ns-name-d7acdbcb5b910050f725'],
    [long, `east-${'x'.repeat(37)}-4119a7eae544937148b5`],
  ])('%j', (name, expected) => {
    expect(serviceName('east', name, id)).toBe(expected);
  });

  test('adds a digest to an id that is not from OpenStack, because it may not be unique', () => {
    const names = [
      serviceName('east', 'a', 'b-c'),
      serviceName('east', 'a-b', 'c'),
      serviceName('east', 'a', '../../etc'),
    ];
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^east-a(-b)?-[0-9a-f]{20}$/);
  });
});

describe('names of ports', () => {
  test.each([
    ['http', 80, '', 'http-80'],
    ['', 443, '', 'port-443'],
    ['DNS Anfragen', 53, 'udp', 'dns-anfragen-53-udp'],
    ['ß', 1, '', 'ss-1'],
    ['日本', 65535, 'sctp', 'port-65535-sctp'],
    [long, 8080, '', `${'x'.repeat(47)}-e113fa7a11-8080`],
  ] as const)('%j %d %s', (name, port, suffix, expected) => {
    expect(portName(name, port, suffix)).toBe(expected);
  });
});

test.each([
  ['web', 'web'],
  ['Web_1.0', 'Web_1.0'],
  ['two words', 'two-words'],
  ['', ''],
  ['…', ''],
])('the label for %j is %j', (text, expected) => {
  expect(labelValue(text)).toBe(expected);
});

test('labels for finding objects are different for different texts', () => {
  expect(labelKey(id)).toBe(id);
  expect(labelKey('two words')).not.toBe(labelKey('two-words'));
  expect(labelKey(labelKey('two words'))).toBe(labelKey('two words'));
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 255 }),
  fc.string({ maxLength: 80 }),
);
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

test('names are valid for any input', () => {
  fc.assert(
    fc.property(
      anyText,
      fc.oneof(fc.uuid(), anyText),
      fc.integer({ min: 1, max: 65535 }),
      (name, own, port) => {
        for (const made of [serviceName('east', name, own), portName(name, port, 'udp')]) {
          expect(made).toMatch(label);
          expect(made.length).toBeLessThanOrEqual(63);
        }
        expect(serviceName('east', name, own)).toMatch(/^[a-z]/);
        for (const made of [labelValue(name), labelKey(name)]) {
          expect(made).toMatch(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/);
          expect(made.length).toBeLessThanOrEqual(63);
        }
        const plain = plainText(name);
        expect(plain === '' || plain.length > 63 || isPlainLabel(plain)).toBe(true);
      },
    ),
  );
});

test('two load balancers never get the same name', () => {
  const one = fc.tuple(anyText, fc.uuid());
  fc.assert(
    fc.property(one, one, ([name, own], [otherName, otherId]) => {
      fc.pre(own !== otherId);
      expect(serviceName('east', name, own)).not.toBe(serviceName('east', otherName, otherId));
    }),
  );
});
