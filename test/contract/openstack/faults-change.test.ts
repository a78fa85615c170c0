import { describe, expect, it } from 'vitest';
import { describeEveryCloud, mitaka, uniqueName } from './clouds.ts';
import { balancingChanges } from './fault-changes-balancing.ts';
import { neutronChanges } from './fault-changes-neutron.ts';
import { useStage } from './fault-stage.ts';

await describeEveryCloud(
  'Changes that are cut off',
  {},
  (cloud) => {
    const staged = useStage(cloud);

    const changes = Object.entries({ ...neutronChanges, ...balancingChanges });
    describe.each(changes)('%s', (kind, { service, method, prepare, write, seen, expected }) => {
      it.each(['before', 'after'] as const)('%s the service commits', async (fault) => {
        const stage = staged();
        const id = await prepare(stage, uniqueName('cut'));
        // LBaaS v2 has no batch: members are added one by one.
        const batchless = kind === 'members replaced' && stage.balancing.kind === 'lbaas-v2';
        stage[service].arm(batchless ? 'POST' : method, fault);
        await write(stage, id, stage.patience);
        expect(stage[service].hasStruck()).toBe(true);
        expect(await seen(stage, id)).toEqual(expected);
        // Octavia may take a second delete for a deletion that is just ending, and lock the load balancer
        // permanently. Mitaka does not report what is being deleted, so the client repeats the request there.
        const isOctavia = service === 'loadBalancer' && stage.balancing.kind === 'octavia';
        if (isOctavia && method === 'DELETE') {
          expect(stage[service].passed('DELETE')).toBe(1);
        }
      });
    });
  },
  [mitaka],
);
