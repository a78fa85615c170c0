import { expect, test } from 'vitest';
import type { Role } from '../../protocol/role.ts';
import { hasRelief } from './relief.ts';

const unable: Role = 'unable';

const well = {
  alarms: [] as string[],
  drained: null,
  sound: true,
  unhealthy: { heard: 4, seen: [], acted: [] },
  announcer: { role: 'standby' as Role, since: null, reason: null },
};
const cutOff = { ...well, alarms: ['cut-off: no backend answers this gateway over IPv6'] };

test.each([
  ['that is well', [well], true],
  ['among several', [cutOff, well], true],
  ['that is cut off too', [cutOff], false],
  ['that is drained', [{ ...well, drained: { since: 0, reason: 'new disks' } }], false],
  ['with a link that is down', [{ ...well, alarms: ['link-down: ext is down'] }], false],
  ['that is unable', [{ ...well, announcer: { role: unable, since: null, reason: null } }], false],
  ['with an unclear kernel', [{ ...well, sound: false }], false],
  ['that heard fewer backends', [{ ...well, unhealthy: { ...well.unhealthy, heard: 2 } }], false],
  ['that does not exist', [], false],
])('a gateway %s is relief for one that is cut off: %s', (_, others, isRelief) => {
  expect(hasRelief(cutOff, others)).toBe(isRelief);
});
