import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { SleepingLab } from './sleeping-lab.ts';

/** The command itself, with a real kill: its held packets are lost, without a last message. */
describe.runIf(canUseNamespaces())('a proxy that is killed while clients wait', () => {
  let lab: SleepingLab;

  beforeAll(async () => {
    lab = await SleepingLab.create(40);
    await lab.start();
  });
  afterAll(() => lab?.remove());

  test('is followed by one that holds them again, and serves them when the Service wakes', async () => {
    await lab.asleep();
    const answers = lab.connectAll();
    await lab.waiting();
    await lab.kill();
    await lab.start();
    await lab.waiting();
    await lab.setEndpoints(true);
    expect(await answers).toEqual(lab.all);
  });

  test('may miss the waking: the next one serves them with their retransmissions', async () => {
    await lab.setEndpoints(false);
    await lab.asleep();
    const answers = lab.connectAll();
    await lab.waiting();
    await lab.kill();
    await lab.setEndpoints(true);
    await lab.start();
    expect(await answers).toEqual(lab.all);
  });

  test('may be killed at the moment of waking', async () => {
    await lab.setEndpoints(false);
    await lab.asleep();
    const answers = lab.connectAll();
    await lab.waiting();
    await lab.setEndpoints(true);
    await lab.kill();
    await lab.start();
    expect(await answers).toEqual(lab.all);
  });
});
