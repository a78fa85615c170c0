import { describe, expect, test } from 'vitest';
import type { Role } from '../protocol/role.ts';
import { readGatewayConfigMap, whyNoneServes } from './gateway-config-map.ts';

interface Written {
  readonly reachable?: boolean;
  readonly role?: Role;
  readonly problems?: readonly string[];
}

function configMap(...states: Written[]) {
  const data = Object.fromEntries(
    states.map((state, index) => [
      `state.g${index + 1}`,
      JSON.stringify({
        reachable: true,
        current: true,
        fenced: false,
        refusedFrontends: 0,
        problems: [],
        ...state,
      }),
    ]),
  );
  return readGatewayConfigMap({ metadata: { name: 'causeway-gateways' }, data });
}

const active = { role: 'active' } as const;
const standby = { role: 'standby' } as const;
const broken: Written = {
  role: 'unable',
  problems: ['bad-health: ext lost the route default'],
};
const cutOffAlarm = 'cut-off: no backend answers this gateway over IPv4';
const noneCan = 'no gateway can serve clients';
const notKnown = 'no agent of a gateway answers, so it is not known whether clients are served';

describe('whyNoneServes', () => {
  test.each<[string, Written[], string | undefined]>([
    ['one active', [active, standby], undefined],
    ['one active beside a broken one', [active, broken], undefined],
    ['a broken one that keeps the addresses', [{ ...broken, ...active }, broken], noneCan],
    ['one with its link down', [{ ...broken }, { problems: ['link-down: ext is down'] }], noneCan],
    ['none that answers', [{ reachable: false }, { reachable: false }], notKnown],
    [
      'an active gateway without a route to IPv4 backends',
      [{ ...active, problems: [cutOffAlarm] }, standby],
      `the active gateway reaches no backend: ${cutOffAlarm}`,
    ],
    [
      'a standby gateway without that route',
      [active, { ...standby, problems: [cutOffAlarm] }],
      undefined,
    ],
    ['none active', [standby, standby], 'no gateway is active: clients get no answer'],
    ['addresses that another program manages', [{ role: 'foreign' }], undefined],
    ['a ConfigMap of an older version', [{}, {}], undefined],
    ['no gateway', [], undefined],
  ])('%s', (_, states, why) => {
    const outage = whyNoneServes(configMap(...states));
    expect(outage?.message).toBe(why);
    expect(outage?.isCertain ?? true).toBe(why !== notKnown);
  });
});

test.each([
  ['0.1.0, active', '{"master":true}', 'active'],
  ['0.1.0, not active', '{"master":false}', undefined],
  ['0.1.0, with the state of keepalived', '{"master":false,"vrrp":"FAULT"}', 'unable'],
  ['a later version', '{"role":"elsewhere"}', undefined],
])('reads the role that %s wrote', (_, written, role) => {
  const [entry] = configMap(JSON.parse(written) as Written);
  expect(entry?.state?.reachable).toBe(true);
  expect(entry?.state?.role).toBe(role);
});
