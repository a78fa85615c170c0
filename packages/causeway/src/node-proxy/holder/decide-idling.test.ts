import { describe, expect, it } from 'vitest';
import { holdAnnotation, idledAt } from '../../idling/annotations.ts';
import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { discardLog } from '@causeway/base/observability/log';
import { ProxyStore } from '../proxy-store.ts';
import { planService } from '../service-plan.ts';
import { makeService, makeSlice } from '../testing/objects.ts';
import { StoreWriter } from '../testing/store-writer.ts';
import { tracedNode } from '../testing/traced-node.ts';
import { startReplay, type IdlingDecision } from './decide-idling.ts';

const key = 'shop/web';
const metadata = { namespace: 'shop', name: 'web', uid: 'one' };
const awake = makeService({ metadata });
const marked = (annotations = {}): Service =>
  makeService({ metadata: { ...metadata, annotations: { [idledAt]: 'now', ...annotations } } });
const ready = (name: string) => makeSlice({ name, addresses: ['10.1.0.1'] });
const unready = (name: string) =>
  makeSlice({ name, endpoints: [{ addresses: ['10.1.0.2'], conditions: { ready: false } }] });
const leaving = (name: string) =>
  makeSlice({
    name,
    endpoints: [
      { addresses: ['10.1.0.3'], conditions: { ready: false, serving: true, terminating: true } },
    ],
  });

const graceMs = 60_000;

/** Decides after each change, as if each had its own transaction. */
class Idling {
  readonly clock = new SimulatedClock();
  readonly objects: StoreWriter;
  #decision: IdlingDecision = { state: undefined, recheckAt: undefined };
  #isEnding = false;

  constructor() {
    const store = new ProxyStore({ node: tracedNode, clock: this.clock, log: discardLog });
    this.objects = new StoreWriter(store);
    store.onChange(() => this.#decide());
  }

  /** The way in which connections go now. */
  get way(): string {
    const { state } = this.#decision;
    if (state === undefined) return 'serve';
    return state.kind === 'held' ? state.way : 'replay';
  }

  /** The kernel has the rules of the last decision. */
  commit(): void {
    const { state } = this.#decision;
    if (state?.kind !== 'replaying' || state.servedAt !== undefined) return;
    this.#decision = startReplay(state, this.clock.monotonic());
  }

  end(): void {
    this.#isEnding = true;
    this.#decide();
  }

  /** Decides again at the times that decisions ask for. */
  async advance(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    for (
      let at = this.#decision.recheckAt;
      at !== undefined && at <= end;
      at = this.#decision.recheckAt
    ) {
      await this.clock.advance(at - this.clock.monotonic());
      this.#decide();
    }
    await this.clock.advance(end - this.clock.monotonic());
  }

  #decide(): void {
    const before = this.#decision.state;
    const now = this.clock.monotonic();
    const state = this.objects.store.stateOf(key);
    const context = { before, now, graceMs, isEnding: this.#isEnding };
    this.#decision = planService(state, context).idling;
  }
}

type Step = (objects: StoreWriter) => void;
const set =
  (service: Service): Step =>
  (objects) =>
    objects.setService(service);
const slice =
  (object: ReturnType<typeof makeSlice>): Step =>
  (objects) =>
    objects.setSlice(object);
const gone =
  (name: string): Step =>
  (objects) =>
    objects.removeSlice(`shop/${name}`);
const deleted: Step = (objects) => objects.removeService(key);

describe('the decision on an idle Service, in any order of changes', () => {
  it.each<[string, Step[], string]>([
    ['a Service that is awake', [set(awake), slice(ready('a'))], 'serve'],
    ['empty, without the idle annotation', [set(awake)], 'serve'],
    ['idle, without slices', [set(marked())], 'park'],
    ['idle after its slices, with a ready endpoint', [slice(ready('a')), set(marked())], 'serve'],
    ['idle, then its endpoints are deleted', [set(marked()), slice(ready('a')), gone('a')], 'park'],
    [
      'endpoints deleted, then idle',
      [set(awake), slice(ready('a')), gone('a'), set(marked())],
      'park',
    ],
    [
      'one of several slices is still ready',
      [set(marked()), slice(unready('a')), slice(ready('b'))],
      'serve',
    ],
    [
      'the last slice seen is empty, another is not',
      [set(marked()), slice(ready('b')), slice(unready('a'))],
      'serve',
    ],
    ['idle with an endpoint that is not ready', [set(marked()), slice(unready('a'))], 'park'],
    ['idle with a terminating endpoint', [set(marked()), slice(leaving('a'))], 'park'],
    [
      'woken: a pod is ready before the annotation is removed',
      [set(marked()), slice(ready('a'))],
      'serve',
    ],
    ['woken: annotation removed first', [set(marked()), set(awake)], 'park'],
    [
      'woken: annotation removed first, then a pod is ready',
      [set(marked()), set(awake), slice(ready('a'))],
      'serve',
    ],
    [
      'annotation removed while the old pods are still listed, then they are deleted',
      [set(marked()), slice(ready('a')), set(awake), gone('a')],
      'park',
    ],
    ['idle again while waking', [set(marked()), set(awake), set(marked())], 'park'],
    ['deleted while idle', [set(marked()), deleted], 'serve'],
    ['deleted before its slice', [set(marked()), slice(unready('a')), deleted, gone('a')], 'serve'],
    ['deleted after its slice', [set(marked()), slice(unready('a')), gone('a'), deleted], 'serve'],
    ['deleted and created again, awake', [set(marked()), deleted, set(awake)], 'serve'],
    ['idle, with hold: accept', [set(marked({ [holdAnnotation]: 'accept' }))], 'accept'],
    [
      'hold: accept is set while idle',
      [set(marked()), set(marked({ [holdAnnotation]: 'accept' }))],
      'accept',
    ],
  ])('%s', (_, steps, expected) => {
    const idling = new Idling();
    for (const step of steps) step(idling.objects);
    expect(idling.way).toBe(expected);
  });

  describe('with several ports or families', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ];
    const asleep = (spec: ServiceSpec): Service => makeService({ ...marked(), spec });
    const twoPorts = asleep({ ports });
    const dual = asleep({ clusterIPs: ['10.96.0.1', 'fd96::1'] });
    const http = makeSlice({
      name: 'http',
      addresses: ['10.1.0.1'],
      ports: [{ name: 'http', port: 8080 }],
    });
    const admin = makeSlice({
      name: 'admin',
      addresses: ['10.1.0.1'],
      ports: [{ name: 'admin', port: 8081 }],
    });
    const six = makeSlice({ name: 'six', addressType: 'IPv6', addresses: ['fd01::1'] });

    it.each<[string, Step[], string]>([
      ['one port is ready', [set(twoPorts), slice(http)], 'park'],
      ['both ports are ready', [set(twoPorts), slice(http), slice(admin)], 'serve'],
      [
        'one port is no longer ready',
        [set(twoPorts), slice(http), slice(admin), gone('http')],
        'park',
      ],
      ['IPv6 alone is ready', [set(dual), slice(six)], 'park'],
      ['IPv4 alone is ready', [set(dual), slice(ready('four'))], 'park'],
      ['both families are ready', [set(dual), slice(ready('four')), slice(six)], 'serve'],
    ])('%s', (_, steps, expected) => {
      const idling = new Idling();
      for (const step of steps) step(idling.objects);
      expect(idling.way).toBe(expected);
    });

    it('holds a port that no endpoint serves no longer than the grace period', async () => {
      const idling = new Idling();
      const { objects } = idling;
      objects.setService(twoPorts);
      objects.setSlice(http);
      objects.setService(makeService({ metadata, spec: { ports } }));
      expect(idling.way).toBe('park');
      await idling.advance(60_000);
      expect(idling.way).toBe('serve');
    });
  });

  it('stops holding after the grace period without another change', async () => {
    const idling = new Idling();
    const { objects } = idling;
    objects.setService(marked());
    objects.setService(awake);
    await idling.advance(59_999);
    expect(idling.way).toBe('park');
    await idling.advance(1);
    expect(idling.way).toBe('serve');
  });

  it('counts the grace period from the removal of the annotation, not from the last change', async () => {
    const idling = new Idling();
    const { objects } = idling;
    objects.setService(marked());
    objects.setService(awake);
    await idling.advance(40_000);
    objects.setSlice(unready('a'));
    await idling.advance(20_000);
    expect(idling.way).toBe('serve');
  });

  describe('where gateways send directly to pods', () => {
    const behindGateways = marked({ [gatewayLayerAnnotation]: 'Pod' });

    it('external clients keep their address while packets are replayed, and a short time after', async () => {
      const idling = new Idling();
      const { objects } = idling;
      objects.setService(behindGateways);
      idling.commit();
      objects.setSlice(ready('a'));
      await idling.advance(60_000);
      expect(idling.way).toBe('replay');
      idling.commit();
      await idling.advance(6_000);
      idling.commit();
      expect(idling.way).toBe('replay');
      await idling.advance(4_000);
      expect(idling.way).toBe('serve');
    });

    it.each<[string, Step[], string]>([
      ['idle again during the replay', [gone('a')], 'park'],
      ['deleted during the replay', [deleted], 'serve'],
      ['loses its annotation during the replay', [set(awake)], 'replay'],
    ])('%s', async (_, steps, expected) => {
      const idling = new Idling();
      const { objects } = idling;
      objects.setService(behindGateways);
      objects.setSlice(ready('a'));
      idling.commit();
      for (const step of steps) step(objects);
      expect(idling.way).toBe(expected);
      await idling.advance(60_000);
      expect(idling.way).toBe(expected === 'replay' ? 'serve' : expected);
    });

    it('nothing is replayed for a Service that is accepted or not served', async () => {
      const accepting = new Idling();
      accepting.objects.setService(
        marked({ [gatewayLayerAnnotation]: 'Pod', [holdAnnotation]: 'accept' }),
      );
      accepting.objects.setSlice(ready('a'));
      expect(accepting.way).toBe('serve');
      const empty = new Idling();
      empty.objects.setService(behindGateways);
      empty.objects.setService(awake);
      await empty.advance(60_000);
      expect(empty.way).toBe('serve');
    });
  });

  it('parks accepted Services when the proxy is about to end', () => {
    const idling = new Idling();
    const accepted = marked({ [holdAnnotation]: 'accept' });
    idling.objects.setService(accepted);
    expect(idling.way).toBe('accept');
    idling.end();
    expect(idling.way).toBe('park');
    idling.objects.setService(accepted);
    expect(idling.way).toBe('park');
  });
});
