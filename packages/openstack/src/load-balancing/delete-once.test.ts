import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { OpenStackError, type Outcome } from '../error.ts';
import { deleteUnlessUnderWay } from './delete-once.ts';

const failure = (outcome: Outcome, status?: number) =>
  new OpenStackError(status === 409 ? 'conflict' : 'unavailable', 'x', {
    service: 'load-balancer',
    outcome,
    ...(status === undefined ? {} : { status }),
  });
const lost = failure('unknown');
const gateway = failure('unknown', 504);
const broken = failure('unknown', 500);
const locked = failure('refused', 409);

type Seen = 'ACTIVE' | 'PENDING_UPDATE' | 'PENDING_DELETE' | 'absent';

/** `attempts` are the results of the reads, `answers` those of the requests; the last of each repeats. */
async function play(attempts: readonly Seen[], answers: readonly ('deleted' | OpenStackError)[]) {
  const clock = new SimulatedClock();
  const count = { attempts: 0, requests: 0 };
  const objects: Parameters<typeof deleteUnlessUnderWay>[0] = {
    pace: { clock, random: () => 0 },
    async get() {
      const status = attempts[Math.min(count.attempts, attempts.length - 1)];
      count.attempts += 1;
      if (status === undefined || status === 'absent') throw failure('refused', 404);
      return { provisioningStatus: status };
    },
    async deleteOnce() {
      const answer = answers[Math.min(count.requests, answers.length - 1)];
      count.requests += 1;
      if (answer === 'deleted') return answer;
      throw answer ?? new Error('no request was expected');
    },
    within: (call, _what, work) => work(call.signal),
  };
  const call = { signal: new AbortController().signal };
  const promise = deleteUnlessUnderWay(objects, 'id', call).catch((error: unknown) => error);
  await clock.advance(60_000);
  return { result: await promise, requests: count.requests };
}

describe('a delete below a load balancer', () => {
  it.each<[string, Seen[], ('deleted' | OpenStackError)[], unknown, number]>([
    ['of an existing object', ['ACTIVE'], ['deleted'], 'deleted', 1],
    ['of a missing object', ['absent'], [], 'absent', 0],
    ['of an object that is being deleted', ['PENDING_DELETE'], [], 'deleted', 0],
    [
      'with an answer lost while the service works on it',
      ['ACTIVE', 'PENDING_DELETE'],
      [lost],
      'deleted',
      1,
    ],
    ['with an answer lost after it is done', ['ACTIVE', 'absent'], [gateway], 'deleted', 1],
    ['with a request that is lost once', ['ACTIVE'], [lost, 'deleted'], 'deleted', 2],
    ['with a request that is lost every time', ['ACTIVE'], [lost], lost, 4],
    ['that fails in the service', ['ACTIVE'], [broken], broken, 1],
    ['that meets its own lock', ['PENDING_UPDATE', 'PENDING_DELETE'], [locked], 'deleted', 1],
    ['that meets another lock', ['ACTIVE', 'ACTIVE'], [locked], locked, 1],
  ])('%s', async (_name, attempts, answers, result, requests) => {
    expect(await play(attempts, answers)).toEqual({ result, requests });
  });
});
