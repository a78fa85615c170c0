import { describe, expect, it } from 'vitest';
import { serviceErrorType, serviceMessage } from './error-body.ts';
import { errorCodeOf } from './response.ts';
import { Secret } from './secret.ts';

describe('serviceMessage', () => {
  it.each([
    [
      'Octavia',
      '{"faultcode":"Client","faultstring":"Quota has been met.","debuginfo":null}',
      'Quota has been met.',
    ],
    [
      'Keystone',
      '{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}',
      'The request you have made requires authentication.',
    ],
    [
      'Neutron',
      '{"NeutronError":{"type":"PortNotFound","message":"Port x could not be found.","detail":""}}',
      'Port x could not be found.',
    ],
    ['old Neutron', '{"NeutronError":"Something broke"}', 'Something broke'],
    [
      'Octavia in HTML',
      '<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n  The resource could not be found.<br /><br />\n\n\n\n </body>\n</html>',
      '404 Not Found The resource could not be found.',
    ],
    ['a proxy in HTML', '<h1>503 &amp; gone</h1><script>alert(1)</script>', '503 & gone'],
    ['plain text', 'Service Unavailable\r\n', 'Service Unavailable'],
    ['broken JSON', '{"faultstring": "x', '{"faultstring": "x'],
  ])('%s', (_name, body, message) => {
    expect(serviceMessage(body)).toBe(message);
  });

  it('returns nothing for an empty body, and shortens a long one', () => {
    expect(serviceMessage('')).toBeUndefined();
    expect(serviceMessage(' <html><body></body></html> ')).toBeUndefined();
    expect(serviceMessage('x'.repeat(100_000))?.length).toBeLessThan(600);
    expect(serviceMessage('a\u0000\u001b[31mb\nc')).toBe('a [31mb c');
  });
});

describe('secrets in the message of a service', () => {
  const quoted = (text: string) => JSON.stringify({ error: { message: text } });
  it.each([
    [
      'at the end of the shortened text',
      `${'x'.repeat(495)}hunter-two-hunter`,
      'hunter-two-hunter',
      'hunte',
    ],
    ['with two spaces', 'wrong: correct  horse', 'correct  horse', 'horse'],
    ['with a tab', 'wrong: correct\thorse', 'correct\thorse', 'horse'],
  ])('are removed %s', (_what, text, secret, trace) => {
    for (const body of [text, quoted(text), `<html><body>${text}</body></html>`]) {
      const message = serviceMessage(body, [new Secret(secret)]);
      expect(message).toContain('[sec');
      expect(message).not.toContain(trace);
    }
  });

  it('are removed in their JSON form, in broken JSON', () => {
    const body = quoted('wrong: cor"rect\\horse').slice(0, -2);
    expect(serviceMessage(body, [new Secret('cor"rect\\horse')])).not.toContain('horse');
  });
});

describe('errorCodeOf', () => {
  const neutron = (type: string) =>
    JSON.stringify({ NeutronError: { type, message: 'm', detail: '' } });
  it.each([
    [400, '', 'invalid'],
    [401, '', 'unauthorized'],
    [403, '{"faultstring":"Policy does not allow this request to be performed."}', 'forbidden'],
    [403, '{"faultstring":"Quota has been met for resources: Load Balancer"}', 'exhausted'],
    [404, '<html></html>', 'not-found'],
    [409, neutron('OverQuota'), 'exhausted'],
    [409, neutron('IpAddressGenerationFailure'), 'exhausted'],
    [409, neutron('IpAddressInUse'), 'conflict'],
    [409, '{"faultstring":"Load Balancer x is immutable and cannot be updated."}', 'conflict'],
    [500, neutron('StateInvalid'), 'conflict'],
    [429, '', 'unavailable'],
    [500, '', 'unavailable'],
    [501, '', 'unsupported'],
    [503, '', 'unavailable'],
    [302, '', 'unsupported'],
  ] as const)('%i %s', (status, body, code) => {
    expect(errorCodeOf(status, body)).toBe(code);
  });

  it('finds the type in each place where services put it', () => {
    expect(serviceErrorType(neutron('OverQuota'))).toBe('OverQuota');
    expect(serviceErrorType('{"faultcode":"Client"}')).toBe('Client');
    expect(serviceErrorType('nonsense')).toBeUndefined();
  });
});
