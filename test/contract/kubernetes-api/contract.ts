import { afterAll, beforeAll, describe } from 'vitest';
import { accessContract } from './access-contract.ts';
import { documentContract } from './document-contract.ts';
import { expiryContract } from './expiry-contract.ts';
import { pagingContract } from './paging-contract.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { watchContract } from './watch-contract.ts';

/** Everything that has to hold on each server; comparisons of two servers are elsewhere. */
export function describeContract(
  name: string,
  isHere: boolean,
  start: () => Promise<ServerUnderTest>,
): void {
  describe.runIf(isHere)(`${name} keeps the contract of the Kubernetes API`, () => {
    let server: ServerUnderTest;

    beforeAll(async () => {
      server = await start();
    });

    afterAll(async () => {
      await server.stop();
    });

    for (const contract of [
      watchContract,
      pagingContract,
      accessContract,
      documentContract,
      expiryContract,
    ]) {
      contract(() => server);
    }
  });
}
