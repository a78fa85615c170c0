import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../test/openstack/minimal-cloud.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { Neutron } from './neutron/neutron.ts';

const call = { signal: new AbortController().signal };

it('sends and repeats no write after the lease is lost, and continues to read', async () => {
  let isLeader = true;
  const remainingMs = () => {
    if (isLeader) return 60_000;
    throw new CausewayError('aborted', 'the lease is lost');
  };
  await using test = await startMinimalCloud(
    ({ method }) => {
      if (method === 'GET') return { status: 200, body: { port: { id: 'p', network_id: 'n' } } };
      // The lease is lost while the cloud can't answer.
      isLeader = false;
      return { status: 503 };
    },
    { leaseGuard: { remainingMs } },
  );
  const { ports } = new Neutron(test.cloud.session());
  await expect(ports.update('p', { name: 'x' }, call)).rejects.toThrow('the lease is lost');
  await expect(ports.delete('p', call)).rejects.toThrow('the lease is lost');
  expect((await ports.get('p', call)).id).toBe('p');
  expect(test.calls().map(({ method }) => method)).toEqual(['PUT', 'GET']);
});
