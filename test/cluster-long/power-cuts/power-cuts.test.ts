import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { advertMs, type Gateway } from '../../services/real-cluster/gateways.ts';
import { prepareRealCluster } from '../../services/real-cluster/real-cluster.ts';
import { bringBack, bringNodeBack, cutLeadingNode, cutActive, restartAgent } from './events.ts';
import type { OutageFigures } from './outage-figures.ts';
import { PowerCutStage } from './stage.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

/** The agents' default setting. */
const probeMs = 500;
/** Every outage is shorter than this, and no new connection fails later. */
const mostAdverts = 6;
const mostProbes = 4;

/**
 * The tests run in order: each continues from the state of the previous one, and at the end everything is as
 * before.
 */
describe.skipIf(!isRunnable)('power cuts', () => {
  let stage: PowerCutStage;
  let cutOff: Gateway;
  const report: string[] = [];
  beforeAll(async () => {
    stage = await PowerCutStage.start();
  });
  afterAll(async () => {
    process.stdout.write(`${report.join('\n')}\n`);
    await stage?.stop();
  });

  function addFigures(what: string, figures: OutageFigures) {
    const { outageMs, failed, failures, lastFailureMs, downloads } = figures;
    const outage = `outage of ${outageMs} ms (${(outageMs / advertMs).toFixed(1)} adverts)`;
    const last = `the last ${lastFailureMs} ms (${(lastFailureMs / probeMs).toFixed(1)} probes) after`;
    const lost = failed === 0 ? 'no connection failed' : `${failed} connections failed, ${last}`;
    report.push(
      `${what}: ${outage}; ${lost}; ${downloads.alive} of ${downloads.of} downloads go on`,
      ...failures.map((failure) => `  ${failure} ms`),
    );
  }

  test('when the active gateway loses power, the other one takes over, and all downloads continue', async () => {
    const { gateway, figures } = await cutActive(stage);
    cutOff = gateway;
    addFigures('gateway cut off', figures);
    expect(figures.downloads).toMatchObject({ alive: figures.downloads.of, lostFrom: [] });
    expect(figures.outageMs).toBeLessThan(mostAdverts * advertMs);
    expect(figures.lastFailureMs).toBeLessThanOrEqual(mostProbes * probeMs);
  });

  test('when it is back, the other one stays active, nothing fails and nothing breaks', async () => {
    const active = await stage.active();
    const figures = await bringBack(stage, cutOff);
    addFigures('gateway back', figures);
    expect(figures).toMatchObject({ failed: 0, downloads: { lostFrom: [] } });
    expect((await stage.active()).name).toBe(active.name);
  });

  test('a restart of its agent has no effect on traffic', async () => {
    const figures = await restartAgent(stage);
    addFigures('agent restarted', figures);
    expect(figures).toMatchObject({ failed: 0, downloads: { lostFrom: [] } });
  });

  test("when the leading controller's node loses power, only downloads from its pod are lost", async () => {
    const { node, figures } = await cutLeadingNode(stage);
    addFigures('node cut off', figures);
    expect(figures.downloads.lostFrom).toEqual([node.name]);
    expect(figures.lastFailureMs).toBeLessThanOrEqual(mostProbes * probeMs);
    const back = await bringNodeBack(stage, node);
    addFigures('node back', back);
    expect(back.downloads.lostFrom).toEqual([]);
  });

  test.each([
    ['etcd', ['etcd']],
    ['the control plane', []],
  ] as const)(
    '%s loses power and recovers: nothing fails and nothing breaks',
    async (what, programs) => {
      const figures = await stage.notice(async () => {
        await stage.cluster.control.cutPower(...programs);
        await stage.controllerHasGone();
        await stage.cluster.control.boot();
        await stage.asBefore();
      });
      addFigures(`${what} cut off and back`, figures);
      expect(figures).toMatchObject({ failed: 0, downloads: { lostFrom: [] } });
    },
  );

  test('all at once: afterwards everything is as before', async () => {
    const { cluster, gateways } = stage;
    const at = Date.now();
    await Promise.all([
      cluster.control.cutPower(),
      ...cluster.nodes.map((node) => node.cutPower()),
      ...gateways.gateways.map((gateway) => gateway.cutPower()),
    ]);
    await Promise.all([
      cluster.control.boot(),
      ...cluster.nodes.map((node) => stage.boot(node)),
      ...gateways.gateways.map((gateway) => gateway.boot()),
    ]);
    await stage.asBefore();
    report.push(`everything cut off: as before ${Math.round((Date.now() - at) / 1000)} s later`);
  });
});
