import { frontendKey } from '../../protocol/frontend.ts';
import type { RemovalVerifier } from './removal-verifier.ts';

/** Finds no owner for any frontend. */
export const verifiesAll: RemovalVerifier = {
  verify: (frontends) =>
    Promise.resolve({
      cluster: 'one',
      verified: new Set(frontends.map(frontendKey)),
      doubts: new Map(),
    }),
};

/** Is in doubt about every frontend. */
export const doubtsAll: RemovalVerifier = {
  verify: (frontends) => {
    const doubts = new Map(frontends.map((each) => [frontendKey(each), 'a Service may have it']));
    return Promise.resolve({ cluster: 'one', verified: new Set(), doubts });
  },
};
