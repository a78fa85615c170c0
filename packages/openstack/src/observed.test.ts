import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../test/openstack/minimal-cloud.ts';
import type { Metrics } from '@causeway/base/observability/metrics';
import { Neutron } from './neutron/neutron.ts';

const call = { signal: new AbortController().signal };

/** Metrics as lines, summed up. */
function recordingMetrics(): { metrics: Metrics; lines: Map<string, number> } {
  const lines = new Map<string, number>();
  const add = (name: string, labels: Readonly<Record<string, string>>, amount: number) => {
    const line = `${name} ${Object.values(labels).join(' ')}`;
    lines.set(line, (lines.get(line) ?? 0) + amount);
  };
  const metrics: Metrics = {
    counter: ({ name }) => ({ add: (labels, amount = 1) => add(name, labels, amount) }),
    gauge: () => ({ set() {}, remove() {} }),
    histogram: ({ name }) => ({ observe: (labels) => add(name, labels, 1) }),
  };
  return { metrics, lines };
}

it('counts requests by route and not by ID, retries by reason, and tokens', async () => {
  const { metrics, lines } = recordingMetrics();
  const answers = [{ status: 503 }, { status: 0, cut: true }, { status: 401 }];
  await using test = await startMinimalCloud(
    ({ url }) => answers.shift() ?? { status: 200, body: { port: { id: url, network_id: 'n' } } },
    { metrics },
  );
  const { ports } = new Neutron(test.cloud.session());
  for (let index = 0; index < 20; index += 1) await ports.get(`id-${index}`, call);
  expect(Object.fromEntries(lines)).toEqual({
    'causeway_openstack_request_duration_seconds identity POST /auth/tokens': 2,
    'causeway_openstack_request_duration_seconds network GET /ports/{id}': 23,
    'causeway_openstack_requests_total identity POST /auth/tokens 201': 2,
    'causeway_openstack_requests_total network GET /ports/{id} 200': 20,
    'causeway_openstack_requests_total network GET /ports/{id} 401': 1,
    'causeway_openstack_requests_total network GET /ports/{id} 503': 1,
    'causeway_openstack_requests_total network GET /ports/{id} none': 1,
    'causeway_openstack_retries_total network connection': 1,
    'causeway_openstack_retries_total network gateway': 1,
    'causeway_openstack_retries_total network token': 1,
    'causeway_openstack_tokens_total issued': 2,
  });
});
