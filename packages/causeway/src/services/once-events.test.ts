import { expect, test } from 'vitest';
import { OnceEvents } from './once-events.ts';

const owner = { namespace: 'shop', name: 'web', uid: 'u1' };

test('an Event is recorded once, until its message changes or its cause is over', () => {
  const recorded: string[] = [];
  const context = {
    recordEvent: (reason: string, message: string) => void recorded.push(`${reason}: ${message}`),
  };
  const events = new OnceEvents();
  const say = (message?: string) => events.record(owner, 'AddressTaken', message, context);
  say('one');
  say('one');
  events.record(owner, 'AddressLost', 'other', context);
  say('two');
  say();
  say('two');
  events.forget(owner);
  say('two');
  expect(recorded).toEqual([
    'AddressTaken: one',
    'AddressLost: other',
    'AddressTaken: two',
    'AddressTaken: two',
    'AddressTaken: two',
  ]);
});
