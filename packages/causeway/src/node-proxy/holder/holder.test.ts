import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Dispatch } from '@causeway/nftables/compile/virtual-service';
import { systemClock } from '@causeway/base/time/clock';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import type { ServedService } from '../served-service.ts';
import { Holder } from './holder.ts';
import { syn4 } from './testing/packets.ts';

const address = '10.96.0.9';
const bounds = { packets: 10, bytes: 10_000 };

const served = (dispatch: Dispatch): ServedService => ({
  service: 'shop/web',
  diversion: undefined,
  healthCheck: undefined,
  targets: [
    {
      port: 'TCP/80',
      virtual: { address: parseAddress(address), protocol: 'TCP', port: parsePort(80), dispatch },
    },
  ],
});

function startHolder() {
  const counts: Record<string, number> = {};
  const metrics: Metrics = {
    ...noMetrics,
    counter: () => ({
      add({ outcome }: Record<string, string>, amount = 1) {
        counts[outcome ?? ''] = (counts[outcome ?? ''] ?? 0) + amount;
      },
    }),
  };
  const holder = new Holder({
    bounds: { perService: bounds, inAll: bounds, perFlow: 4, holdMs: 1_000 },
    needPods: () => {},
    clock: systemClock,
    metrics,
  });
  holder.attach({ inject: () => true });
  const come = (fromPort: number) =>
    holder.onPacket(syn4({ from: '10.0.0.1', fromPort, to: address, toPort: 80 }));
  return { holder, counts, come };
}

test('replays as many packets as were parked or arrived late', () => {
  const { holder, counts, come } = startHolder();
  holder.onCommit([served({ kind: 'hold', logGroup: 1 })]);
  come(1_001);
  come(1_002);
  come(1_002);
  holder.onCommit([served({ kind: 'slots', backends: [] })]);
  // The kernel logged the packet right before it served the Service.
  come(1_003);
  expect(counts).toEqual({ parked: 2, renewed: 1, late: 1, replayed: 3 });
});
