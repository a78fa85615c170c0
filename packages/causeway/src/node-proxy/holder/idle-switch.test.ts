import { describe, expect, it } from 'vitest';
import { holdAnnotation, idledAt } from '../../idling/annotations.ts';
import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Diversion, DivertibleProxy } from '../served-service.ts';
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

describe('the idle switch, in any order of changes', () => {
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
      const { idle, state } = start();
      for (const step of steps) step(idle);
      expect(state()).toBe(expected);
    });

    it('holds a port that no endpoint serves no longer than the grace period', async () => {
      const { idle, clock, state } = start();
      idle.setService(twoPorts);
      idle.setSlice(http);
      idle.setService(makeService({ metadata, spec: { ports } }));
      expect(state()).toBe('park');
      await clock.advance(60_000);
      expect(state()).toBe('serve');
    });
  });

  it('stops holding after the grace period without another change', async () => {
    const { idle, clock, state } = start();
    idle.setService(marked());
    idle.setService(awake);
    await clock.advance(59_999);
    expect(state()).toBe('park');
    await clock.advance(1);
    expect(state()).toBe('serve');
  });

  it('counts the grace period from the removal of the annotation, not from the last change', async () => {
    const { idle, clock, state } = start();
    idle.setService(marked());
    idle.setService(awake);
    await clock.advance(40_000);
    idle.setSlice(unready('a'));
    await clock.advance(20_000);
    expect(state()).toBe('serve');
  });

  describe('where gateways send directly to pods', () => {
    const behindGateways = marked({ [gatewayLayerAnnotation]: 'Pod' });

    it('external clients keep their address while packets are replayed, and a short time after', async () => {
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
      ['idle again during the replay', [gone('a')], 'park'],
      ['deleted during the replay', [deleted], 'serve'],
      ['loses its annotation during the replay', [set(awake)], 'replay'],
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

    it('nothing is replayed for a Service that is accepted or not served', async () => {
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

  it('parks accepted Services when the proxy is about to end', () => {
    const { idle, said, state } = start();
    const accepted = marked({ [holdAnnotation]: 'accept' });
    idle.setService(accepted);
    expect(idle.parkAccepted()).toEqual([key]);
    idle.setService(accepted);
    expect(state()).toBe('park');
    expect(said.filter((word) => word === 'park')).toHaveLength(1);
    expect(idle.parkAccepted()).toEqual([]);
  });

  it('passes on each change together with its diversion', () => {
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

  it('sends nothing twice', () => {
    const { idle, said } = start();
    idle.setService(marked());
    idle.setService(marked());
    idle.setSlice(unready('a'));
    expect(said.filter((word) => word === 'park')).toHaveLength(1);
  });
});
