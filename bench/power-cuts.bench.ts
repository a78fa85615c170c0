import { advertMs } from '../test/services/real-cluster/gateways.ts';
import {
  bringBack,
  bringNodeBack,
  cutLeadingNode,
  cutActive,
  restartAgent,
} from '../test/cluster-long/power-cuts/events.ts';
import { PowerCutStage } from '../test/cluster-long/power-cuts/stage.ts';
import type { OutageFigures } from '../test/cluster-long/power-cuts/outage-figures.ts';
import type { BenchmarkSuite, Measurement } from './benchmark.ts';

const runs = 3;
/** The agents' default setting. */
const probeMs = 500;

type Figure =
  | 'power-cut-gateway-outage'
  | 'power-cut-gateway-downloads-lost'
  | 'power-cut-node-last-failure';

/** Effect on an external client when parts of a real cluster lose power; three runs of each. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'power-cuts',
  long: true,
  bars: {
    'power-cut-gateway-outage': { of: 'ratio', comparison: 'at most', limit: 6, unit: 'ms' },
    'power-cut-gateway-downloads-lost': {
      of: 'value',
      comparison: 'exactly',
      limit: 0,
      unit: 'downloads',
    },
    'power-cut-node-last-failure': { of: 'ratio', comparison: 'at most', limit: 4, unit: 'ms' },
  },
  async run() {
    const stage = await PowerCutStage.start();
    try {
      const ofGateways: OutageFigures[] = [];
      const outages: number[] = [];
      const lastFailures: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        const events = await strikeGateways(stage);
        ofGateways.push(...events);
        outages.push(events[0].outageMs);
        const { node, figures } = await cutLeadingNode(stage);
        lastFailures.push(figures.lastFailureMs);
        await bringNodeBack(stage, node);
      }
      const lost = ofGateways.map(({ downloads }) => downloads.of - downloads.alive);
      return {
        'power-cut-gateway-outage': worst(outages, advertMs),
        'power-cut-gateway-downloads-lost': {
          value: lost.reduce((sum, each) => sum + each, 0),
          baseline: null,
        },
        'power-cut-node-last-failure': worst(lastFailures, probeMs),
      };
    } finally {
      await stage.stop();
    }
  },
};

/** The active gateway loses power and comes back, then the agent of the active gateway is restarted. */
async function strikeGateways(
  stage: PowerCutStage,
): Promise<[OutageFigures, OutageFigures, OutageFigures]> {
  const { gateway, figures } = await cutActive(stage);
  return [figures, await bringBack(stage, gateway), await restartAgent(stage)];
}

function worst(values: readonly number[], baseline: number): Measurement {
  const ratios = values.map((value) => value / baseline);
  return {
    value: Math.max(...values),
    baseline,
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}
