import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEveryCloud, mitaka, uniqueName } from './clouds.ts';
import { balancingChanges } from './fault-changes-balancing.ts';
import { neutronChanges } from './fault-changes-neutron.ts';
import { setStage, type Stage } from './fault-stage.ts';

const call = { signal: new AbortController().signal };

await describeEveryCloud(
  'Changes that are cut off',
  {},
  (cloud) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await setStage(cloud());
    });
    afterAll(async () => {
      await stage?.close();
    });

    const changes = Object.entries({ ...neutronChanges, ...balancingChanges });
    describe.each(changes)('%s', (kind, { service, method, prepare, write, seen, expected }) => {
      it.each(['before', 'after'] as const)('%s the service commits', async (fault) => {
        const id = await prepare(stage, uniqueName('cut'));
        // LBaaS v2 has no batch: members are added one by one.
        const batchless = kind === 'members replaced' && stage.balancing.kind === 'lbaas-v2';
        stage[service].arm(batchless ? 'POST' : method, fault);
        await write(stage, id, call);
        expect(stage[service].hasStruck()).toBe(true);
        expect(await seen(stage, id)).toEqual(expected);
      });
    });
  },
  [mitaka],
);
