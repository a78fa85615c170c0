import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { createOperator } from '../../../packages/causeway/src/ipam/init.ts';
import { SqliteLedger } from '../../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { never } from '../../contract/ipam/server-under-test.ts';
import { ClusterUnderTest } from '../../contract/pool/cluster-under-test.ts';
import { freePort } from '../../services/free-port.ts';
import { startIpamServer, type IpamServer } from '../../services/ipam-server.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { startServiceProcess, type ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
const site = 'edge';
/** The shortest allowed times. */
const selfWithdrawal = { afterMs: 10_000, graceMs: 5_000 };
const agreedMs = selfWithdrawal.afterMs + selfWithdrawal.graceMs;

let directory = '';
let server: IpamServer;
let operator: IpamClient;
let rival: IpamClient;
let cluster: ClusterUnderTest;
let controller: ServiceProcess;

beforeAll(async () => {
  directory = await scratchDirectory('stopped');
  const file = (name: string) => path.join(directory, name);
  const ledger = await SqliteLedger.open(file('ipam.db'));
  const token = await createOperator(ledger, 'test', Date.now(), never);
  await ledger.close();
  server = await startIpamServer(directory, 'ipam', ['--ledger', `sqlite:${file('ipam.db')}`]);
  const clientOf = (secret: string) =>
    new IpamClient({
      urls: [server.url],
      token: () => Promise.resolve(secret),
      clock: systemClock,
    });
  operator = clientOf(token);
  const call = operator.call.bind(operator);
  const times = { quarantineMs: 1_000, unconfirmedQuarantineMs: 5_000 };
  await call('setSite', { params: { site }, body: times }, never);
  const pool = { addresses: ['192.0.2.1'] };
  await call('setPool', { params: { site, pool: 'public' }, body: pool }, never);
  const create = async (name: string) => {
    const body = { cluster: name, selfWithdrawal };
    return (await call('createCluster', { params: { site }, body }, never)).token;
  };
  await fs.writeFile(file('red.token'), await create('red'), { mode: 0o600 });
  rival = clientOf(await create('blue'));
  const kubernetes = await startEmbeddedKubernetes();
  await fs.writeFile(file('kubeconfig'), kubernetes.kubeconfig);
  cluster = await ClusterUnderTest.on(file('kubeconfig'), () => kubernetes.stop());
  const args = [
    ...[main, 'controller', '--kubeconfig', file('kubeconfig'), '--default-provider', 'pool'],
    ...['--observe-port', String(await freePort()), '--pool-enabled', '--pool-self-withdrawal'],
    ...['--pool-servers', server.url, '--pool-site', site, '--pool-cluster', 'red'],
    ...['--pool-token-file', file('red.token'), '--pool-announcer', 'plain'],
    ...['--pool-heartbeat-seconds', '1'],
  ];
  controller = startServiceProcess(process.execPath, args, { logFile: file('controller.log') });
});

afterAll(async () => {
  controller.kill('SIGCONT');
  await controller.stop();
  await cluster.stop();
  await operator.close();
  await rival.close();
  await server.process.stop();
  await removeDirectory(directory);
});

const stateOf = (address: string) => operator.call('whoHas', { params: { site, address } }, never);
const clusterRed = () => operator.call('getCluster', { params: { site, cluster: 'red' } }, never);
const shown = async () => (await cluster.addressesOf('web')).join();

/** Stops a process for longer than the promised time and the grace time. */
async function stopBeyondPromise(victim: ServiceProcess): Promise<() => void> {
  const stoppedAt = performance.now();
  victim.kill('SIGSTOP');
  const isOver = () => Promise.resolve(performance.now() - stoppedAt > agreedMs + 2_000);
  await waitFor('the promise to be due', isOver);
  return () => victim.kill('SIGCONT');
}

describe('a promise to withdraw, and processes that are stopped for longer', () => {
  let address = '';

  test('a server that was stopped reclaims nothing; the cluster has withdrawn and continues', async () => {
    await cluster.create('web');
    await waitFor('the address', async () => (await shown()) !== '');
    address = await shown();
    await waitFor('the promise', async () => (await clusterRed()).withdrawsAfterMs === 10_000);
    const { epoch } = await clusterRed();
    const goOn = await stopBeyondPromise(server.process);
    await waitFor('the withdrawal', async () => (await shown()) === '');
    goOn();
    await waitFor('the address again', async () => (await shown()) === address);
    expect(await clusterRed()).toMatchObject({ epoch, addresses: 1, health: 'healthy' });
    expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'red' });
  });

  test('a controller that was stopped takes nothing back from the new owner of the address', async () => {
    await waitFor('the promise', async () => (await clusterRed()).withdrawsAfterMs === 10_000);
    const goOn = await stopBeyondPromise(controller);
    const asked = { params: { site, cluster: 'blue' }, body: { uid: 'rival', waitMs: 5_000 } };
    await waitFor('the rival’s turn', async () => {
      const { state } = await rival.call('reserve', asked, never);
      return state === 'held';
    });
    goOn();
    // The controller finds its lease lost, becomes a candidate again, and leads with a new state.
    await waitFor('the withdrawal', async () => (await shown()) === '');
    await waitFor('the next heartbeat', async () => (await clusterRed()).health === 'healthy');
    expect(await clusterRed()).toMatchObject({ addresses: 0 });
    expect(await shown()).toBe('');
    expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
  });
});
