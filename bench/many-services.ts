import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import type { Service } from '../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../packages/kubernetes/src/objects/network-objects.ts';
import { endpointSlices, services } from '../packages/kubernetes/src/objects/resources.ts';

const namespace = 'default';
const runTogether = 16;

/** Services with two endpoints each and without traffic. */
export class ManyServices {
  readonly #client: KubeClient;
  readonly #count: number;
  /** Continues over calls, so that every change is a real one. */
  #turn = 0;

  constructor(client: KubeClient, count: number) {
    this.#client = client;
    this.#count = count;
  }

  async create(): Promise<void> {
    let next = 0;
    const work = async () => {
      for (let at = next++; at < this.#count; at = next++) {
        await this.#client.create(services, serviceAt(at));
        await this.#client.create(endpointSlices, sliceAt(at, 0));
      }
    };
    await Promise.all(Array.from({ length: runTogether }, work));
  }

  /** Replaces an endpoint in one Service after another, at a steady rate. */
  async change(perSecond: number, seconds: number): Promise<void> {
    const begin = performance.now();
    const underWay: Promise<unknown>[] = [];
    for (let made = 0; made < perSecond * seconds; made += 1) {
      this.#turn += 1;
      const at = this.#turn % this.#count;
      const { endpoints } = sliceAt(at, this.#turn);
      const name = { namespace, name: nameOf(at) };
      underWay.push(this.#client.patchMerge(endpointSlices, name, { endpoints }));
      await delay(Math.max(0, begin + ((made + 1) * 1000) / perSecond - performance.now()));
    }
    await Promise.all(underWay);
  }
}

const nameOf = (at: number) => `many-${at}`;

function serviceAt(at: number): Service {
  return {
    metadata: { namespace, name: nameOf(at) },
    spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

/** Addresses without pods: two of 250; the second depends on the round. */
function sliceAt(at: number, turn: number): EndpointSlice {
  const address = (last: number) => `10.214.9.${(last % 250) + 1}`;
  return {
    metadata: { namespace, name: nameOf(at), labels: { 'kubernetes.io/service-name': nameOf(at) } },
    addressType: 'IPv4',
    endpoints: [at, at + 1 + (turn % 249)].map((last) => ({
      addresses: [address(last)],
      conditions: { ready: true },
    })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}
