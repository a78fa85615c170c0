import { describe, expect, it } from 'vitest';
import { holdAnnotation, idledAt } from '../../idling/annotations.ts';
import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Diversion, DivertibleProxy } from '../service-proxy.ts';
import { makeService, makeSlice } from '../testing/objects.ts';
import { IdleSwitch } from './idle-switch.ts';

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

function start() {
  const clock = new SimulatedClock();
  let diversion: Diversion | undefined;
  let committed = () => {};
  const said: string[] = [];
  const inner: DivertibleProxy = {
    setService: () => said.push('service'),
    removeService: () => said.push('no service'),
    setSlice: () => said.push('slice'),
    removeSlice: () => said.push('no slice'),
    synced: () => said.push('synced'),
    divert(_, to) {
      diversion = to;
      said.push(to === undefined ? 'serve' : to.kind);
    },
    onCommit(listener) {
      committed = () =>
        listener([{ service: key, diversion, targets: [], healthCheck: undefined }]);
      return () => {};
    },
  };
  const idle = new IdleSwitch({
    inner,
    holdingFor: (_, way) =>
      way === 'park'
        ? { kind: 'park', logGroup: 1 }
        : { kind: 'accept', listeners: new Map(), logGroup: 1 },
    graceMs: 60_000,
    clock,
  });
  return { idle, clock, said, commit: () => committed(), state: () => diversion?.kind ?? 'serve' };
}

type Step = (idle: IdleSwitch) => void;
const set =
  (service: Service): Step =>
  (idle) =>
    idle.setService(service);
const slice =
  (object: ReturnType<typeof makeSlice>): Step =>
  (idle) =>
    idle.setSlice(object);
const gone =
  (name: string): Step =>
  (idle) =>
    idle.removeSlice(`shop/${name}`);
const deleted: Step = (idle) => idle.removeService(key);

describe('the idle switch, in whatever order things are told', () => {
  it.each<[string, Step[], string]>([
    ['a Service that is awake', [set(awake), slice(ready('a'))], 'serve'],
    ['one that is empty and not marked', [set(awake)], 'serve'],
    ['marked, and nothing came since', [set(marked())], 'park'],
    ['marked, slices first', [slice(ready('a')), set(marked())], 'serve'],
    ['marked, then its endpoints go', [set(marked()), slice(ready('a')), gone('a')], 'park'],
    [
      'its endpoints go, then it is marked',
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
    ['endpoints that are not ready do not count', [set(marked()), slice(unready('a'))], 'park'],
    ['nor do those that are leaving', [set(marked()), slice(leaving('a'))], 'park'],
    ['woken: a pod is ready, the mark still there', [set(marked()), slice(ready('a'))], 'serve'],
    ['woken: the mark went first', [set(marked()), set(awake)], 'park'],
    [
      'woken: the mark went first, then a pod is ready',
      [set(marked()), set(awake), slice(ready('a'))],
      'serve',
    ],
    [
      'the mark went while the pods of before were still named, then they leave',
      [set(marked()), slice(ready('a')), set(awake), gone('a')],
      'park',
    ],
    ['put to sleep again during waking', [set(marked()), set(awake), set(marked())], 'park'],
    ['deleted while asleep', [set(marked()), deleted], 'serve'],
    [
      'deleted, its slice after it',
      [set(marked()), slice(unready('a')), deleted, gone('a')],
      'serve',
    ],
    [
      'its slice deleted, then the Service',
      [set(marked()), slice(unready('a')), gone('a'), deleted],
      'serve',
    ],
    ['deleted and made again, awake', [set(marked()), deleted, set(awake)], 'serve'],
    ['holding by accepting, on request', [set(marked({ [holdAnnotation]: 'accept' }))], 'accept'],
    [
      'the request comes while asleep',
      [set(marked()), set(marked({ [holdAnnotation]: 'accept' }))],
      'accept',
    ],
  ])('%s', (_, steps, expected) => {
    const { idle, state } = start();
    for (const step of steps) step(idle);
    expect(state()).toBe(expected);
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
      ['both are', [set(twoPorts), slice(http), slice(admin)], 'serve'],
      ['one goes again', [set(twoPorts), slice(http), slice(admin), gone('http')], 'park'],
      ['one family is ready', [set(dual), slice(six)], 'park'],
      ['the other one is', [set(dual), slice(ready('four'))], 'park'],
      ['both are', [set(dual), slice(ready('four')), slice(six)], 'serve'],
    ])('%s', (_, steps, expected) => {
      const { idle, state } = start();
      for (const step of steps) step(idle);
      expect(state()).toBe(expected);
    });

    it('a port that nobody serves is held no longer than the grace', async () => {
      const { idle, clock, state } = start();
      idle.setService(twoPorts);
      idle.setSlice(http);
      idle.setService(makeService({ metadata, spec: { ports } }));
      expect(state()).toBe('park');
      await clock.advance(60_000);
      expect(state()).toBe('serve');
    });
  });

  it('after the mark has gone, holding ends by itself', async () => {
    const { idle, clock, state } = start();
    idle.setService(marked());
    idle.setService(awake);
    await clock.advance(59_999);
    expect(state()).toBe('park');
    await clock.advance(1);
    expect(state()).toBe('serve');
  });

  it('the grace counts from when the mark went, not from the last thing told', async () => {
    const { idle, clock, state } = start();
    idle.setService(marked());
    idle.setService(awake);
    await clock.advance(40_000);
    idle.setSlice(unready('a'));
    await clock.advance(20_000);
    expect(state()).toBe('serve');
  });

  describe('where gateways lead straight to pods', () => {
    const behindGateways = marked({ [gatewayLayerAnnotation]: 'Pod' });

    it('clients from outside keep their address while packets are put back, and a little longer', async () => {
      const { idle, clock, commit, state } = start();
      idle.setService(behindGateways);
      commit();
      idle.setSlice(ready('a'));
      await clock.advance(60_000);
      expect(state()).toBe('replay');
      commit();
      await clock.advance(6_000);
      commit();
      expect(state()).toBe('replay');
      await clock.advance(4_000);
      expect(state()).toBe('serve');
    });

    it.each<[string, Step[], string]>([
      ['put to sleep meanwhile', [gone('a')], 'park'],
      ['deleted meanwhile', [deleted], 'serve'],
      ['the mark goes meanwhile', [set(awake)], 'replay'],
    ])('%s', async (_, steps, expected) => {
      const { idle, clock, commit, state } = start();
      idle.setService(behindGateways);
      idle.setSlice(ready('a'));
      commit();
      for (const step of steps) step(idle);
      expect(state()).toBe(expected);
      await clock.advance(60_000);
      expect(state()).toBe(expected === 'replay' ? 'serve' : expected);
    });

    it('nothing is put back for one that is accepted, or that nobody serves', async () => {
      const accepting = start();
      accepting.idle.setService(
        marked({ [gatewayLayerAnnotation]: 'Pod', [holdAnnotation]: 'accept' }),
      );
      accepting.idle.setSlice(ready('a'));
      expect(accepting.state()).toBe('serve');
      const empty = start();
      empty.idle.setService(behindGateways);
      empty.idle.setService(awake);
      await empty.clock.advance(60_000);
      expect(empty.state()).toBe('serve');
    });
  });

  it('parks what it accepts when the proxy is about to end', () => {
    const { idle, said, state } = start();
    const accepted = marked({ [holdAnnotation]: 'accept' });
    idle.setService(accepted);
    expect(idle.parkAccepted()).toEqual([key]);
    idle.setService(accepted);
    expect(state()).toBe('park');
    expect(said.filter((word) => word === 'park')).toHaveLength(1);
    expect(idle.parkAccepted()).toEqual([]);
  });

  it('hands everything on, and says the diversion in the same breath', () => {
    const { idle, said } = start();
    idle.setService(marked());
    idle.setSlice(ready('a'));
    idle.removeSlice('shop/a');
    idle.removeService(key);
    idle.synced();
    expect(said).toEqual([
      ...['service', 'park', 'slice', 'serve', 'no slice', 'park', 'no service', 'serve', 'synced'],
    ]);
  });

  it('says nothing twice', () => {
    const { idle, said } = start();
    idle.setService(marked());
    idle.setService(marked());
    idle.setSlice(unready('a'));
    expect(said.filter((word) => word === 'park')).toHaveLength(1);
  });
});
