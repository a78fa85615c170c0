import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idledAt } from '../../../src/idling/annotations.ts';
import { endpointSlices, services } from '../../../src/kube/resources.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { logTail, type ServiceProcess } from '../../services/service-process.ts';
import { HopelessError, patienceMs, waitFor } from '../../services/wait-for.ts';
import { CommandLab } from '../proxy/command-lab.ts';
import { endpoint, heard, pods } from '../proxy/proxy-lab.ts';

const virtual = '10.96.7.1';
const count = 40;
const slice = { namespace: 'shop', name: 'web-1' };

/** The command itself, with a real kill: what it holds is gone, and nobody says good-bye. */
describe.runIf(canUseNamespaces())('a proxy that is killed while clients wait', () => {
  let lab: CommandLab;
  let proxy: ServiceProcess;

  beforeAll(async () => {
    lab = await CommandLab.create();
    await lab.client.create(services, {
      metadata: {
        namespace: 'shop',
        name: 'web',
        annotations: { [idledAt]: '2026-01-01T00:00:00Z' },
      },
      spec: { clusterIP: virtual, ports: [{ port: 80 }] },
    });
    await lab.client.create(endpointSlices, {
      metadata: { ...slice, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [],
    });
    // A client gives up after its seventh packet, a minute on; on a slow machine a start takes longer.
    await lab.lab.host('p2').setting('net.ipv4.tcp_syn_retries', 127);
    await start();
  });
  afterAll(() => lab?.remove());

  const start = async () => {
    proxy = await lab.start({ conntrack: { maxPerCore: 0, min: 0 } }, '--services=all');
  };
  const kill = async () => {
    proxy.kill('SIGKILL');
    await proxy.exited;
  };
  const waiting = () =>
    waitFor(
      `${count} to wait`,
      async () => {
        if (!proxy.isRunning()) throw new HopelessError(logTail(lab.logFile));
        const { body } = await lab.get('http://127.0.0.1:10249/metrics');
        const [, packets = '0'] = /^causeway_holder_waiting_packets (\d+)$/m.exec(body) ?? [];
        if (Number(packets) < count) throw new Error(`${packets} wait`);
        return true;
      },
      { intervalMs: 250 },
    );
  const setEndpoints = (isReady: boolean) =>
    lab.client.patchMerge(endpointSlices, slice, { endpoints: isReady ? [endpoint('p1')] : [] });
  const connectAll = async () => {
    const one = { address: virtual, port: 80, timeoutMs: patienceMs };
    const answers = await lab.lab.ask('p2', ...Array.from({ length: count }, () => one));
    return answers.map(heard);
  };
  const asleep = () =>
    waitFor('the rules to hold', async () => {
      const rules = await lab.lab
        .host('node')
        .run('nft', 'list', 'table', 'inet', 'causeway-proxy');
      return rules.includes(`${virtual} . tcp . 80 : goto hold-`);
    });
  const all = Array.from({ length: count }, () => `p1 ${pods.p2.v4}`);

  test('is followed by one that holds them again, and serves them when the Service wakes', async () => {
    await asleep();
    const answers = connectAll();
    await waiting();
    await kill();
    await start();
    await waiting();
    await setEndpoints(true);
    expect(await answers).toEqual(all);
  });

  test('may miss the waking: the next one serves them with their retransmissions', async () => {
    await setEndpoints(false);
    await asleep();
    const answers = connectAll();
    await waiting();
    await kill();
    await setEndpoints(true);
    await start();
    expect(await answers).toEqual(all);
  });

  test('may die at the very moment of waking', async () => {
    await setEndpoints(false);
    await asleep();
    const answers = connectAll();
    await waiting();
    await setEndpoints(true);
    await kill();
    await start();
    expect(await answers).toEqual(all);
  });
});
