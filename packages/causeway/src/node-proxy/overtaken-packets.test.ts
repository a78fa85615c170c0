import { describe, expect, it } from 'vitest';
import { parsePort } from '@causeway/base/address/port';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Ruleset } from '@causeway/nftables/model/ruleset';
import type { Diversion } from './served-service.ts';
import { makeSlice } from './testing/objects.ts';
import { fate, fatesDuringChange, nodeAddress, rulesOf } from './testing/traced-node.ts';
import { addresses, web, webService } from './testing/web-service.ts';

const here = (count: number) => ({
  endpoints: Array.from({ length: count }, (_, index) => ({
    addresses: [`10.1.1.${index + 1}`],
    nodeName: 'node1',
  })),
});
const park: Diversion = { kind: 'park', logGroup: 9 };
const accept: Diversion = {
  kind: 'accept',
  listeners: new Map([['TCP/80', parsePort(15_080)]]),
  logGroup: 9,
};
const specs: Record<string, ServiceSpec> = {
  'of the default kind': {},
  'that stays on the node': { externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' },
  'that remembers its clients': { sessionAffinity: 'ClientIP' },
  'that has source ranges': { loadBalancerSourceRanges: ['10.1.0.0/16', '192.168.1.0/24'] },
};

/** Each state serves, holds or drops; none rejects. */
function statesOf(spec: ServiceSpec): [string, Ruleset][] {
  return [
    ['parked', web(spec, here(0), { diversion: park })],
    ['accepted', web(spec, here(0), { diversion: accept })],
    ['one pod', web(spec, here(1))],
    ['replayed', web(spec, here(2), { diversion: { kind: 'replay' } })],
    ['thirty pods', web(spec, here(30))],
  ];
}

describe('a packet in flight while the rules change', () => {
  const cases = Object.entries(specs).flatMap(([name, spec]) => {
    const states = statesOf(spec);
    return states.flatMap(([from, before]) =>
      states.map(([to, after]) => [name, from, to, before, after] as const),
    );
  });

  it.each(cases)('to a Service %s: %s, then %s', (_, _from, _to, before, after) => {
    for (const [, to, port] of addresses) {
      for (const from of ['pod', 'node', 'outside'] as const) {
        for (const sourcePort of [40_000, 40_001, 40_002]) {
          const attempt = { from, to, port, sourcePort, random: 0.9 };
          const fates = fatesDuringChange(before, after, attempt);
          // Neither rejected, nor sent to an unrelated destination.
          expect(fates).not.toContain('rejected');
          for (const each of fates) expect(each).not.toContain(`${to} ${port}`);
        }
      }
    }
  });

  it('is rejected only if the new rules reject it', () => {
    const [, to, port] = addresses[0];
    const fates = fatesDuringChange(web({}, here(1)), web({}, here(0)), { from: 'pod', to, port });
    expect(fates).toEqual(new Set(['10.1.1.1 8080', 'rejected']));
  });
});

it('an endpoint with the address and port of its own Service is reached without a rewrite', () => {
  const service = webService({ externalIPs: [nodeAddress], ports: [{ port: 80 }] });
  const endpoints = [{ addresses: [nodeAddress], nodeName: 'node1' }];
  const ports = [{ port: 80, protocol: 'TCP' as const }];
  for (const sessionAffinity of ['None', 'ClientIP'] as const) {
    const sticky = { ...service, spec: { ...service.spec, sessionAffinity } };
    const rules = rulesOf({ services: [sticky], slices: [makeSlice({ endpoints, ports })] });
    const attempt = { from: 'outside', to: nodeAddress, port: 80 } as const;
    expect(fate(rules, attempt)).toContain(`${nodeAddress} 80`);
  }
});
