import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../../../packages/kubernetes/src/objects/network-objects.ts';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import type { Request } from '../nftables/lab.ts';
import { CommandLab } from './command-lab.ts';
import { clientIp, endpoint, heard, nodeIp, type PodName } from './proxy-lab.ts';

function service(name: string, port: number, more: Partial<Service['spec']> = {}): Service {
  return {
    metadata: { namespace: 'shop', name },
    spec: { clusterIP: `10.96.7.${port - 30_000}`, ports: [{ port: 80 }], ...more },
  };
}

function slice(name: string, ...podNames: PodName[]): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': name };
  return {
    metadata: { namespace: 'shop', name: `${name}-1`, labels },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: podNames.map((pod) => endpoint(pod)),
  };
}

describe.skipIf(!canUseNamespaces())('causeway proxy as a command', () => {
  let lab: CommandLab;
  let proxy: ServiceProcess;
  const ask = async (address: string, port: number, patience: Pick<Request, 'timeoutMs'> = {}) => {
    const [answer] = await lab.lab.ask('client', { address, port, ...patience });
    return answer === undefined ? 'nothing' : heard(answer);
  };
  const soon = { timeoutMs: 1_000 };
  const becomes = (address: string, port: number, expected: string) =>
    waitFor(`${expected} at ${address}:${port}`, async () => {
      const heardNow = await ask(address, port, soon);
      if (heardNow !== expected) throw new Error(`it is ${heardNow}`);
      return true;
    });
  const healthIs = (status: number) =>
    waitFor(`health ${status}`, async () => {
      const answer = await lab.get('http://127.0.0.1:10256/healthz');
      return answer.status === status && answer;
    });

  beforeAll(async () => {
    lab = await CommandLab.create();
    const ours = { type: 'NodePort' as const, ports: [{ port: 80, nodePort: 30_001 }] };
    await lab.client.create(services, service('web', 30_001, ours));
    await lab.client.create(endpointSlices, slice('web', 'p1'));
    const foreign = service('foreign', 30_002);
    const labels = { 'service.kubernetes.io/service-proxy-name': 'another' };
    await lab.client.create(services, { ...foreign, metadata: { ...foreign.metadata, labels } });
    await lab.client.create(endpointSlices, slice('foreign', 'p1'));
    proxy = await lab.start({ conntrack: { tcpEstablishedTimeout: '3h0m0s' } }, '--services=all');
  });
  afterAll(() => lab.remove());

  test("serves the cluster's Services and follows changes", async () => {
    await becomes('10.96.7.1', 80, 'p1 10.1.1.5');
    await becomes(nodeIp, 30_001, 'p1 10.1.1.5');
    const name = { namespace: 'shop', name: 'web-1' };
    await lab.client.patchMerge(endpointSlices, name, {
      endpoints: slice('web', 'p2').endpoints,
    });
    await becomes('10.96.7.1', 80, 'p2 10.1.1.9');
    // Services of another proxy are left alone.
    expect(await ask('10.96.7.2', 80, soon)).toBe('timeout');
  });

  test("serves its health, mode and metrics at kube-proxy's addresses", async () => {
    const { body } = await healthIs(200);
    expect(JSON.parse(body)).toMatchObject({ nodeEligible: true });
    expect(body).toContain('lastUpdated');
    expect((await lab.get('http://127.0.0.1:10256/livez')).status).toBe(200);
    expect(await lab.get('http://127.0.0.1:10249/proxyMode')).toEqual({
      status: 200,
      body: 'nftables',
    });
    await waitFor('both Services to be counted', async () => {
      const metrics = await lab.get('http://127.0.0.1:10249/metrics');
      return /^causeway_proxy_services 2$/m.test(metrics.body);
    });
  });

  test("sets the kernel's timeouts, even if kube-proxy never ran", async () => {
    const read = async (name: string) =>
      (await lab.lab.host('node').run('sysctl', '-n', `net.netfilter.${name}`)).trim();
    for (const [name, seconds] of [
      ['nf_conntrack_tcp_timeout_established', '10800'],
      ['nf_conntrack_tcp_timeout_close_wait', '3600'],
    ] as const) {
      await waitFor(`${name} to be ${seconds}`, async () => (await read(name)) === seconds);
    }
  });

  test('answers health checks of load balancers and keeps the client’s address', async () => {
    await lab.client.create(
      services,
      service('local', 30_003, {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 32_003,
        ports: [{ port: 80, nodePort: 30_003 }],
      }),
    );
    await lab.client.create(endpointSlices, slice('local', 'p1', 'remote'));
    await waitFor('the health check', async () => {
      const answer = await lab.get(`http://${nodeIp}:32003/`);
      expect(answer.status).toBe(200);
      const body: unknown = JSON.parse(answer.body);
      expect(body).toMatchObject({ localEndpoints: 1, serviceProxyHealthy: true });
      return true;
    });
    await becomes(nodeIp, 30_003, `p1 ${clientIp}`);
  });

  test('keeps serving while it is killed and restarted', async () => {
    proxy.kill('SIGKILL');
    await proxy.exited;
    expect(await ask('10.96.7.1', 80)).toBe('p2 10.1.1.9');
    const name = { namespace: 'shop', name: 'web-1' };
    await lab.client.patchMerge(endpointSlices, name, {
      endpoints: slice('web', 'p1').endpoints,
    });
    proxy = await lab.start({}, '--services=all');
    await becomes('10.96.7.1', 80, 'p1 10.1.1.5');
  });

  test('reports configuration without an effect', async () => {
    await proxy.stop();
    expect(await ask('10.96.7.1', 80)).toBe('p1 10.1.1.5');
    proxy = await lab.start({ ipvs: { strictARP: true }, portRange: '1-2' });
    for (const name of ['portRange', 'ipvs.strictARP']) {
      await waitFor(`the warning about ${name}`, async () =>
        (await fs.readFile(lab.logFile, 'utf8')).includes(`${name} has no effect`),
      );
    }
    // Without --services=all only labelled Services are served.
    await becomes('10.96.7.1', 80, 'timeout');
  });

  test('cleans up its rules', async () => {
    await proxy.stop();
    const tables = () => lab.lab.host('node').run('nft', 'list', 'tables');
    expect(await tables()).toContain('causeway-proxy');
    proxy = await lab.start({}, 'cleanup');
    await proxy.exited;
    expect(await tables()).not.toContain('causeway-proxy');
  });
});
