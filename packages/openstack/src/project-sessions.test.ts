import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../test/openstack/minimal-cloud.ts';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Neutron } from './neutron/neutron.ts';
import { ProjectSessions } from './project-sessions.ts';

const call = { signal: new AbortController().signal };
const minute = 60_000;

it('callers in one project share its token, callers in another project have their own', async () => {
  await using test = await startMinimalCloud(() => ({
    status: 200,
    body: { port: { id: 'x', network_id: 'n' } },
  }));
  const get = (projectId: string) =>
    new Neutron(test.cloud.project(projectId)).ports.get('x', call);
  await Promise.all(Array.from({ length: 50 }, () => get('p1')));
  // The unscoped login, and that of the project.
  expect(test.logins()).toHaveLength(2);
  await get('p2');
  expect(test.logins()).toHaveLength(3);
});

it('unused sessions are dropped, the others are kept', async () => {
  const clock = new SimulatedClock();
  await using test = await startMinimalCloud(() => ({ status: 404 }), { clock });
  const opened: string[] = [];
  const sessions = new ProjectSessions(clock, (projectId) => {
    opened.push(projectId);
    // Only the creation matters here; each session of the cloud has its own tokens.
    return test.cloud.project(projectId);
  });
  const busy = sessions.get('busy');
  for (let index = 0; index < 4_000; index += 1) sessions.get(`idle-${index}`);
  await clock.advance(40 * minute);
  await busy.authenticate(call);
  await clock.advance(40 * minute);
  expect(sessions.get('busy')).toBe(busy);
  expect(sessions.size).toBe(1);
  expect(opened.filter((id) => id === 'busy')).toHaveLength(1);
});
