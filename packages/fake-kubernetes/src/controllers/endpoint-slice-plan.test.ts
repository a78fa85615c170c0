import { array, assert as forAll, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint, EndpointSlice } from '../resources/endpoint-slice.ts';
import { planSlices, type EndpointGroup } from './endpoint-slice-plan.ts';

const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];

const endpoint = (id: number, isReady = true): Endpoint => ({
  addresses: [`10.0.${Math.floor(id / 250)}.${(id % 250) + 1}`],
  conditions: { ready: isReady },
  targetRef: { kind: 'Pod', name: `p${id}`, namespace: 'x', uid: String(id) },
});

const uid = ({ targetRef }: Endpoint) => targetRef?.uid;

const group = (endpoints: readonly Endpoint[]): EndpointGroup => ({
  addressType: 'IPv4',
  ports: endpoints.length === 0 ? [] : ports,
  endpoints,
});

let made = 0;

function slice(endpoints: readonly Endpoint[]): EndpointSlice {
  made += 1;
  const name = `slice-${made}`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
    addressType: 'IPv4',
    // As in the real API, an empty list is null.
    endpoints: endpoints.length === 0 ? null : [...endpoints],
    ports: endpoints.length === 0 ? null : ports,
  };
}

/** Returns the slices after the plan is applied. */
function carryOut(
  groups: readonly EndpointGroup[],
  slices: readonly EndpointSlice[],
): EndpointSlice[] {
  const plan = planSlices(groups, slices);
  const kept = slices
    .filter((one) => !plan.remove.includes(one))
    .map((one) => {
      const update = plan.update.find(({ slice: changed }) => changed === one);
      return update === undefined ? one : { ...one, endpoints: [...update.endpoints] };
    });
  return [...kept, ...plan.create.map(({ endpoints }) => slice(endpoints))];
}

describe('planSlices', () => {
  test('creates one empty slice for a Service without endpoints', () => {
    const slices = carryOut([group([])], []);
    expect(slices).toHaveLength(1);
    expect(planSlices([group([])], slices)).toEqual({ create: [], update: [], remove: [] });
  });

  test('changes only the slice of the changed endpoint', () => {
    const all = Array.from({ length: 150 }, (_, id) => endpoint(id));
    const slices = carryOut([group(all)], []);
    expect(slices.map(({ endpoints }) => endpoints?.length)).toEqual([100, 50]);
    const changed = all.map((one, id) => (id === 120 ? endpoint(id, false) : one));
    const plan = planSlices([group(changed)], slices);
    expect(plan.update.map(({ slice: one }) => one)).toEqual([slices[1]]);
    expect([plan.create, plan.remove]).toEqual([[], []]);
  });

  test('fills slices with free space before it creates new ones', () => {
    const slices = carryOut([group(Array.from({ length: 150 }, (_, id) => endpoint(id)))], []);
    const plan = planSlices([group(Array.from({ length: 200 }, (_, id) => endpoint(id)))], slices);
    expect(plan.create).toEqual([]);
    expect(plan.update.map(({ endpoints }) => endpoints.length)).toEqual([100]);
  });

  test('keeps each endpoint in exactly one slice and then plans no further change', () => {
    const ids = array(integer({ min: 0, max: 400 }), { maxLength: 350 });
    forAll(
      property(array(ids, { minLength: 1, maxLength: 4 }), (steps) => {
        let slices: EndpointSlice[] = [];
        for (const step of steps) {
          const wanted = [...new Set(step)].map((id) => endpoint(id));
          slices = carryOut([group(wanted)], slices);
          const held = slices.flatMap(({ endpoints }) => endpoints ?? []);
          expect(held).toHaveLength(wanted.length);
          expect(new Set(held.map(uid))).toEqual(new Set(wanted.map(uid)));
          expect(slices.every(({ endpoints }) => (endpoints ?? []).length <= 100)).toBe(true);
          expect(planSlices([group(wanted)], slices)).toEqual({
            create: [],
            update: [],
            remove: [],
          });
        }
      }),
    );
  });
});
