import { describe } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { plainPlatform } from '../../../packages/causeway/src/ipam/platform/platform-driver.ts';
import { platformContract } from './contract.ts';

describe('the plain platform', () => {
  platformContract({
    driver: () => plainPlatform,
    leavesTraces: false,
    addresses: [parseAddress('192.0.2.1'), parseAddress('192.0.2.2')],
  });
});
