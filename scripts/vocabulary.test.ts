import { expect, test } from 'vitest';
import { privateTermsIn } from './vocabulary.ts';

test.each([
  ['an identifier', 'const lookAgain = 1;', 'identifier "look": use check'],
  ['a private field', 'class A { #silentSince = 0; }', 'identifier "silent": use unhealthy'],
  ['a property', 'const a = { toldAt: 1 };', 'identifier "told": use send'],
  ['a message', "log.info('the gateways are told');", 'message "told": use send'],
  ['a template', 'const text = `${name} is silent`;', 'message "silent": use unhealthy'],
  ['a metric', "const name = 'causeway_silent_total';", 'message "silent": use unhealthy'],
  ['a vague word', "log.info('who answers');", 'message "who": name it'],
])('reports a private term in %s', (_, source, expected) => {
  const found = privateTermsIn('packages/base/src/some.ts', `\n${source}`);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`packages/base/src/some.ts:2: ${expected}`);
});

test('reports a private term in a file name', () => {
  const [found] = privateTermsIn('packages/base/src/look-again.ts', '');
  expect(found).toContain('file name "look"');
});

test.each([
  ['a longer word', 'const lookup = dashboard;'],
  ['a comment', '// what nobody was told'],
  ['an option of another program', "run('curl --silent');"],
  ['a name that was in use before', 'const unhealthySince = 0;'],
])('accepts %s', (_, source) => {
  expect(privateTermsIn('packages/base/src/some.ts', source)).toEqual([]);
});

test('accepts messages of the embedded doubles, which imitate other programs', () => {
  expect(privateTermsIn('packages/fake-openstack/src/a.ts', "say('not possible');")).toEqual([]);
});

const gateway = 'packages/causeway/src/gateway';

test.each([
  ['in the controller', `${gateway}/controller/a.ts`, 'const isMaster = 1;', 'use active'],
  ['in the agent', `${gateway}/agent/a.ts`, 'const vrrpState = 1;', 'use announcer'],
  ['beside keepalived', `${gateway}/agent/announce/a.ts`, 'class A { #advertMs = 1; }', 'use peer'],
  ['in a page', 'packages/causeway/src/console/a.ts', 'const backup = 1;', 'use standby'],
  ['in a test', 'test/kernel/gateway/a.ts', 'const masters = 1;', 'use active'],
  ['in a file name', `${gateway}/agent/keepalived-state.ts`, '', 'use announcer'],
])('reports a term of VRRP %s', (_, file, source, expected) => {
  const found = privateTermsIn(file, source);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(expected);
});

test.each([
  ['in its announcer', `${gateway}/agent/announce/keepalived/a.ts`, 'const vrrpMaster = advert;'],
  ['for the choice of the announcer', `${gateway}/agent/announce/a.ts`, 'const keepalived = 1;'],
  ['in stored state of old releases', `${gateway}/controller/a.ts`, "const key = 'MASTER';"],
  ['for the backup of a ledger', 'packages/causeway/src/ipam/a.ts', 'const backup = 1;'],
])('accepts a term of VRRP %s', (_, file, source) => {
  expect(privateTermsIn(file, source)).toEqual([]);
});

test('reports a claim that is not a claim of a token', () => {
  const source = 'const claims = 1;';
  expect(privateTermsIn(`${gateway}/controller/ports/a.ts`, source)).toHaveLength(1);
  expect(privateTermsIn(`${gateway}/protocol/tokens.ts`, source)).toEqual([]);
});
