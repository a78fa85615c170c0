import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { createOnce } from './create-once.ts';
import { OpenStackError, type Outcome } from './error.ts';

const failure = (outcome: Outcome, status?: number) =>
  new OpenStackError('unavailable', 'x', {
    service: 'network',
    outcome,
    ...(status === undefined ? {} : { status }),
  });

const lock = new OpenStackError('conflict', 'x', {
  service: 'load-balancer',
  outcome: 'refused',
  status: 409,
  serviceMessage: 'Load Balancer x is immutable and cannot be updated.',
});

interface Script {
  /**
   * Result of each create: `done` commits and answers, `lost` commits and loses the answer, `nothing` does
   * neither.
   */
  readonly creates: readonly ('done' | 'lost' | 'nothing' | OpenStackError)[];
  readonly mayExist?: boolean;
  readonly identity?: boolean;
  readonly present?: boolean;
  /** Number of searches that do not find the existing object yet. */
  readonly blindReads?: number;
}

async function play(script: Script) {
  const clock = new SimulatedClock();
  const objects: string[] = script.present === true ? ['old'] : [];
  let creates = 0;
  let attempts = 0;
  const find = () => {
    attempts += 1;
    return Promise.resolve(attempts > (script.blindReads ?? 0) ? objects[0] : undefined);
  };
  const promise = createOnce(
    {
      create() {
        const step = script.creates[creates] ?? 'done';
        creates += 1;
        if (step instanceof OpenStackError) return Promise.reject(step);
        if (step === 'nothing') return Promise.reject(failure('unknown'));
        objects.push(`new-${creates}`);
        return step === 'lost'
          ? Promise.reject(failure('unknown'))
          : Promise.resolve(`new-${creates}`);
      },
      find: script.identity === false ? undefined : find,
      mayExist: script.mayExist ?? false,
    },
    { clock, random: () => 0.5, signal: new AbortController().signal },
  );
  const outcome = promise.then(
    (value) => value,
    (error: unknown) => (error as OpenStackError).outcome,
  );
  for (let turn = 0; turn < 40; turn += 1) await clock.advance(1_000);
  return { result: await outcome, objects: objects.length, creates, pending: clock.pendingTimers };
}

describe('createOnce', () => {
  it.each<[string, Script, { result: string; objects: number; creates: number }]>([
    ['works', { creates: ['done'] }, { result: 'new-1', objects: 1, creates: 1 }],
    [
      'finds the object after a lost answer',
      { creates: ['lost'] },
      { result: 'new-1', objects: 1, creates: 1 },
    ],
    [
      'waits for an object that appears late',
      { creates: ['lost'], blindReads: 3 },
      { result: 'new-1', objects: 1, creates: 1 },
    ],
    [
      'tries again if no object was created',
      { creates: ['nothing', 'done'] },
      { result: 'new-2', objects: 1, creates: 2 },
    ],
    [
      'tries again and loses the second answer',
      { creates: ['nothing', 'lost'] },
      { result: 'new-2', objects: 1, creates: 2 },
    ],
    [
      'gives up in the end',
      { creates: Array(9).fill('nothing') as 'nothing'[] },
      { result: 'unknown', objects: 0, creates: 4 },
    ],
    [
      'finds the object that a service created before it failed',
      { creates: [failure('unknown', 500)], present: true },
      { result: 'old', objects: 1, creates: 1 },
    ],
    [
      'does not repeat a create that failed inside the service',
      { creates: [failure('unknown', 500)] },
      { result: 'unknown', objects: 0, creates: 1 },
    ],
    [
      'repeats a create that a proxy could not forward',
      { creates: [failure('unknown', 503), 'done'] },
      { result: 'new-2', objects: 1, creates: 2 },
    ],
    [
      'passes on a refusal',
      { creates: [failure('refused', 400)] },
      { result: 'refused', objects: 0, creates: 1 },
    ],
    [
      'passes on a conflict with another owner',
      { creates: [failure('refused', 409)], present: true },
      { result: 'refused', objects: 1, creates: 1 },
    ],
    [
      'attributes a conflict after a lost answer to its own object',
      { creates: ['lost', failure('refused', 409)], blindReads: 4 },
      { result: 'new-1', objects: 1, creates: 2 },
    ],
    [
      'searches first if an earlier process may have created the object',
      { creates: [], mayExist: true, present: true },
      { result: 'old', objects: 1, creates: 0 },
    ],
    [
      'creates the object if that process did not',
      { creates: ['done'], mayExist: true },
      { result: 'new-1', objects: 1, creates: 1 },
    ],
    [
      'does not attribute a lock to its own object',
      { creates: [lock], mayExist: true, blindReads: 1, present: true },
      { result: 'refused', objects: 1, creates: 1 },
    ],
    [
      'attributes a lock after a lost answer to its own object',
      { creates: ['lost', lock], blindReads: 4 },
      { result: 'new-1', objects: 1, creates: 2 },
    ],
    [
      'never repeats a create without an identity',
      { creates: ['lost', 'done'], identity: false },
      { result: 'unknown', objects: 1, creates: 1 },
    ],
  ])('%s', async (_name, script, expected) => {
    expect(await play(script)).toEqual({ ...expected, pending: 0 });
  });
});
