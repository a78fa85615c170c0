import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { tracePacket, type Trace } from '@causeway/nftables/trace/packet-tracer';
import type { Ruleset } from '@causeway/nftables/model/ruleset';
import { clients, nodeAddress } from './testing/traced-node.ts';
import { clusterIp, web } from './testing/web-service.ts';

const endpoint = '10.1.1.1';
const rules = web({}, { endpoints: [{ addresses: [endpoint], nodeName: 'node1' }] });
const reset = 0x14;

interface Answer {
  readonly flags?: number;
  readonly to?: keyof typeof clients;
  readonly isRefused?: boolean;
  readonly destinationRewritten?: boolean;
  readonly opened?: readonly [string, number];
}

/** The trace of an endpoint's answer to a connecting client. */
function answered(ruleset: Ruleset, answer: Answer): Trace {
  const { flags = reset, to = 'outside', isRefused = true, destinationRewritten = true } = answer;
  const [originalDestination, originalDestinationPort] = answer.opened ?? [clusterIp, 80];
  return tracePacket(
    ruleset,
    {
      source: parseAddress(endpoint),
      destination: parseAddress(clients[to]),
      protocol: 6,
      sourcePort: 8080,
      destinationPort: 40_000,
      tcpFlags: flags,
      connection: {
        state: 'established',
        reply: true,
        isRefused,
        destinationRewritten,
        originalDestination: parseAddress(originalDestination),
        originalDestinationPort,
      },
    },
    { from: 'network', localAddresses: [parseAddress(nodeAddress)] },
  );
}

test.each(['outside', 'pod', 'node'] as const)(
  'the first refusal of an endpoint is not sent to a client (%s), and is stored',
  (to) => {
    const { outcome, remembered } = answered(rules, { to });
    expect(outcome).toBe('dropped');
    const key = `${clients[to]} . 40000 . ${endpoint} . 8080`;
    expect(remembered).toEqual([{ set: 'refusals4', key }]);
  },
);

test('the second refusal is sent', () => {
  const [{ set, key } = { set: '', key: '' }] = answered(rules, {}).remembered;
  const known = rules.sets.get(set);
  if (known === undefined) throw new Error(`there is no set ${set}`);
  const elements = new Map([[key, { key: key.split(' . ') as never }]]);
  const later = { ...rules, sets: new Map(rules.sets).set(set, { ...known, elements }) };
  expect(answered(later, {}).outcome).toBe('forwarded');
});

test.each<[string, Answer]>([
  ['an answer other than a refusal', { flags: 0x12, isRefused: false }],
  ['a reset in the middle of a connection', { isRefused: false }],
  ['a refusal of a connection that was not rewritten', { destinationRewritten: false }],
  ['a refusal of a connection that another program rewrote', { opened: [nodeAddress, 8081] }],
])('%s passes', (_, answer) => {
  expect(answered(rules, answer).outcome).toBe('forwarded');
});
