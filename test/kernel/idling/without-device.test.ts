import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { SleepingLab } from './sleeping-lab.ts';

const device = 'causeway-hold';
const count = 3;
const packets = (outcome: string) => `causeway_holder_packets_total{outcome="${outcome}"}`;

/** Like a machine without TUN devices: another device has the name, so the proxy can't create its own. */
describe.runIf(canUseNamespaces())('a node without packet replay', () => {
  let lab: SleepingLab;

  beforeAll(async () => {
    lab = await SleepingLab.create(count);
    await lab.onNode('ip', 'link', 'add', device, 'type', 'bridge');
    await lab.start();
  });
  afterAll(() => lab?.remove());

  /** Clients connect while it is idle, and wait until it wakes: returns their answers. */
  const callAndWake = async () => {
    await lab.asleep();
    const answers = lab.connectAll();
    await lab.waiting();
    await lab.setEndpoints(true);
    return answers;
  };

  test('still holds waiting connections, and serves them with their own next packet', async () => {
    expect(await callAndWake()).toEqual(lab.all);
    expect(await lab.metric(packets('lost'))).toBeGreaterThanOrEqual(count);
    expect(await lab.metric(packets('replayed'))).toBe(0);
    expect(await lab.log()).toMatch(
      /warn.*open \/dev\/net\/tun.*wake idle Services, but continue only with the client's next packet/,
    );
  });

  test('replays them as soon as it can', async () => {
    await lab.onNode('ip', 'link', 'delete', device);
    await waitFor('a device of its own', async () =>
      (await lab.onNode('ip', '-details', 'link')).includes('tun type tun'),
    );
    await lab.setEndpoints(false);
    expect(await callAndWake()).toEqual(lab.all);
    expect(await lab.metric(packets('replayed'))).toBeGreaterThanOrEqual(count);
  });
});
