import { afterEach, beforeEach, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { mintToken } from '../credential.ts';
import { View } from '../view.ts';
import { startApiServer, type ApiOptions, type ApiServer } from './server.ts';

let server: ApiServer;
let asked: number;

beforeEach(async () => {
  asked = 0;
  const allocator = {
    view: new View(),
    now: 0,
    read: () => {
      asked += 1;
      return Promise.reject(new CausewayError('unauthorized', 'who?'));
    },
  };
  server = await startApiServer({
    ...{ allocator, clock: systemClock, log: discardLog, host: '127.0.0.1', port: 0 },
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    strangerLimit: { perSecond: 0.000_1, burst: 2 },
  } as unknown as ApiOptions);
});

afterEach(() => server.close());

async function call(authorization?: string): Promise<number> {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await fetch(`${server.url}/v1/sites/s/clusters/c/reservations`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

test('rejects unknown callers before it asks the ledger, and counts each call once', async () => {
  const statuses: number[] = [];
  // Each call has a new secret, so a limit by credential has no effect on guessing.
  for (let times = 0; times < 4; times += 1) {
    statuses.push(await call(`Bearer ${mintToken().token}`));
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect(asked).toBe(2);
});

test('limits calls without a credential in the same way', async () => {
  expect([await call(), await call('Bearer nonsense'), await call()]).toEqual([401, 401, 429]);
  expect(asked).toBe(0);
});
