import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { advertMs, type Gateway } from '../../services/real-cluster/gateways.ts';
import { prepareRealCluster } from '../../services/real-cluster/real-cluster.ts';
import { bringBack, bringNodeBack, cutLeadingNode, cutMaster, restartAgent } from './events.ts';
import type { OutageFigures } from './outage-figures.ts';
import { PowerCutStage } from './stage.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

/** The agents' setting, as it is if nobody says otherwise. */
const probeMs = 500;
/** Nobody is silent for as long as this, and no new connection fails later than that. */
const mostAdverts = 6;
const mostProbes = 4;

/** One story: each test goes on where the one before it ended, and in the end everything is as before. */
describe.skipIf(!isRunnable)('power cuts', () => {
  let stage: PowerCutStage;
  let cutOff: Gateway;
  const told: string[] = [];
  beforeAll(async () => {
    stage = await PowerCutStage.start();
  });
  afterAll(async () => {
    process.stdout.write(`${told.join('\n')}\n`);
    await stage?.stop();
  });

  function tell(what: string, figures: OutageFigures) {
    const { outageMs, failed, failures, lastFailureMs, downloads } = figures;
    const outage = `silent for ${outageMs} ms (${(outageMs / advertMs).toFixed(1)} adverts)`;
    const last = `the last ${lastFailureMs} ms (${(lastFailureMs / probeMs).toFixed(1)} probes) after`;
    const lost = failed === 0 ? 'no connection failed' : `${failed} connections failed, ${last}`;
    told.push(
      `${what}: ${outage}; ${lost}; ${downloads.alive} of ${downloads.of} downloads go on`,
      ...failures.map((failure) => `  ${failure} ms`),
    );
  }

  test('the gateway that has the address is cut off: the other one takes over, and all downloads go on', async () => {
    const { gateway, figures } = await cutMaster(stage);
    cutOff = gateway;
    tell('gateway cut off', figures);
    expect(figures.downloads).toMatchObject({ alive: figures.downloads.of, lostFrom: [] });
    expect(figures.outageMs).toBeLessThan(mostAdverts * advertMs);
    expect(figures.lastFailureMs).toBeLessThanOrEqual(mostProbes * probeMs);
  });

  test('it is back: the other one keeps the address, nothing fails and nothing breaks', async () => {
    const master = await stage.master();
    const figures = await bringBack(stage, cutOff);
    tell('gateway back', figures);
    expect(figures).toMatchObject({ failed: 0, downloads: { lostFrom: [] } });
    expect((await stage.master()).name).toBe(master.name);
  });

  test('its agent is started again: nobody notices', async () => {
    const figures = await restartAgent(stage);
    tell('agent restarted', figures);
    expect(figures).toMatchObject({ failed: 0, downloads: { lostFrom: [] } });
  });

  test('a node is cut off, the leading controller on it: only downloads from its pod are lost', async () => {
    const { node, figures } = await cutLeadingNode(stage);
    tell('node cut off', figures);
    expect(figures.downloads.lostFrom).toEqual([node.name]);
    expect(figures.lastFailureMs).toBeLessThanOrEqual(mostProbes * probeMs);
    const back = await bringNodeBack(stage, node);
    tell('node back', back);
    expect(back.downloads.lostFrom).toEqual([]);
  });

  test.each([
    ['etcd', ['etcd']],
    ['the control plane', []],
  ] as const)(
    '%s is cut off and comes back: nothing fails and nothing breaks',
    async (what, programs) => {
      const figures = await stage.notice(async () => {
        await stage.cluster.control.cutPower(...programs);
        await stage.controllerHasGone();
        await stage.cluster.control.boot();
        await stage.asBefore();
      });
      tell(`${what} cut off and back`, figures);
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
    told.push(`everything cut off: as before ${Math.round((Date.now() - at) / 1000)} s later`);
  });
});
