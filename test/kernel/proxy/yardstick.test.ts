import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { prepareKubernetes, startKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { ensureProgram } from '../../services/programs.ts';
import { logTail, type ServiceProcess } from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import type { Answer, Request } from '../nftables/lab.ts';
import { CommandLab } from './command-lab.ts';
import { clientIp, pods } from './proxy-lab.ts';
import { addressesOf, serviceOf, specimens } from './yardstick-services.ts';

const available =
  canUseNamespaces() &&
  (await isAvailable(async () => {
    await prepareKubernetes();
    await ensureProgram('kube-proxy');
  }));

const places = ['client', 'p1', 'p2', 'node'] as const;
/** Enough to reach each of three endpoints. */
const tries = 45;
/** Unanswered ones end together, this long after the last answer. */
const patienceMs = 3_000;

const seenBy: Readonly<Record<string, string>> = {
  [clientIp]: 'client',
  [pods.p1.v4]: 'p1',
  [pods.p2.v4]: 'p2',
};

/** The pod that answered and the client address that it saw; any address of the node counts as the node. */
function outcome({ text, error }: Answer): string {
  if (error !== undefined) return error;
  const [who = '', seen = ''] = text.split(' ');
  return `${who} sees ${seenBy[seen.replace('::ffff:', '')] ?? 'node'}`;
}

describe.skipIf(!available)('causeway proxy beside the real kube-proxy', () => {
  let lab: CommandLab;

  beforeAll(async () => {
    lab = await CommandLab.create(async () => {
      const api = await startKubernetes();
      const kubeconfig = await fs.readFile(api.kubeconfig, 'utf8');
      return { url: api.url, kubeconfig, stop: () => api.stop() };
    });
    for (const [number, specimen] of specimens.entries()) {
      const service = await lab.client.create(services, serviceOf(specimen, number));
      const ip = addressesOf(number).balancer.address;
      const status = { loadBalancer: { ingress: [{ ip, ...specimen.ingress }] } };
      await lab.client.update(services, { ...service, status }, { subresource: 'status' });
      await lab.client.create(endpointSlices, {
        metadata: {
          namespace: 'shop',
          name: specimen.name,
          labels: { 'kubernetes.io/service-name': specimen.name, ...specimen.labels },
        },
        addressType: 'IPv4',
        ports: [{ name: '', port: 8080, protocol: 'TCP' }],
        endpoints: specimen.endpoints,
      });
    }
  });
  afterAll(() => lab.remove());

  /** The results of every client at every address of every Service. */
  async function survey(): Promise<Map<string, string[]>> {
    const found = new Map<string, Set<string>>();
    const surveyFrom = async (place: (typeof places)[number]) => {
      const asked: { name: string; request: Request }[] = [];
      for (const [number, { name, endpoints }] of specimens.entries()) {
        const count = endpoints.length > 1 ? tries : 1;
        for (const [kind, target] of Object.entries(addressesOf(number))) {
          const request = { ...target, timeoutMs: patienceMs };
          for (let turn = 0; turn < (kind === 'otherPort' ? 1 : count); turn += 1) {
            asked.push({ name: `${name} ${kind} from ${place}`, request });
          }
        }
      }
      const answers = await lab.lab.ask(place, ...asked.map(({ request }) => request));
      for (const [index, answer] of answers.entries()) {
        const { name = '' } = asked[index] ?? {};
        const outcomes = found.get(name) ?? new Set();
        found.set(name, outcomes.add(outcome(answer)));
      }
    };
    // Two at a time: mostly they wait for timeouts.
    await Promise.all(places.slice(0, 2).map(surveyFrom));
    await Promise.all(places.slice(2).map(surveyFrom));
    return new Map([...found].map(([name, outcomes]) => [name, [...outcomes].sort(byText)]));
  }

  const byText = (left: string, right: string) => (left < right ? -1 : 1);

  /** Waits until the last Service that every proxy serves works, and the health check succeeds. */
  async function ready(proxy: ServiceProcess): Promise<void> {
    await waitFor('the proxy', async () => {
      if (!proxy.isRunning()) throw new HopelessError(logTail(lab.logFile));
      const { cluster } = addressesOf(1);
      const [answer] = await lab.lab.ask('p2', { ...cluster, timeoutMs: 1000 });
      return answer?.text.startsWith('p1') === true;
    });
  }

  test('does the same for every kind of Service', async () => {
    const kubeProxy = await lab.startKubeProxy(await ensureProgram('kube-proxy'), {
      conntrack: { maxPerCore: 0, min: 0 },
    });
    await ready(kubeProxy);
    const theirs = await survey();
    await kubeProxy.stop();
    for (const family of ['ip', 'ip6']) {
      await lab.lab.host('node').run('nft', 'delete', 'table', family, 'kube-proxy');
    }
    const causeway = await lab.start({ conntrack: { maxPerCore: 0 } }, '--services=all');
    await ready(causeway);
    const ours = await survey();
    const differences = [...theirs]
      .filter(([name, outcomes]) => outcomes.join() !== ours.get(name)?.join())
      .map(
        ([name, outcomes]) => `${name}: ${outcomes.join()} there, ${ours.get(name)?.join()} here`,
      );
    expect(differences).toEqual([]);
    expect(theirs.size).toBe(specimens.length * 5 * places.length);
    // The comparison is not empty.
    expect(theirs.get('plain cluster from p2')).toHaveLength(3);
    expect(theirs.get('none nodePort from client')).toEqual(['ECONNREFUSED']);
    expect(theirs.get('local balancer from client')).toEqual(['p1 sees client']);
    expect(theirs.get('local-away balancer from client')).toEqual(['timeout']);
    expect(theirs.get('ranges balancer from client')).toEqual(['timeout']);
    expect(theirs.get('one cluster from p1')).toEqual(['p1 sees node']);
  });
});
