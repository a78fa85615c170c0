import * as fc from 'fast-check';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import type { LayoutChange } from '../../../packages/nftables/src/compile/layout-change.ts';
import {
  serviceKey,
  type VirtualService,
} from '../../../packages/nftables/src/compile/virtual-service.ts';

/** A small set of services that conflict, share backends and change. */
const services = fc.record({
  address: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1'),
  protocol: fc.constantFrom('TCP', 'UDP', 'SCTP'),
  port: fc.constantFrom(80, 81),
  backends: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 5 }),
  form: fc.constantFrom('slots', 'client-hash', 'client-timeout', 'node-ports', 'hold', 'routed'),
  ranges: fc.constantFrom(undefined, [], ['4']),
  masquerade: fc.constantFrom('never', 'needed', 'always'),
});

type Draft = typeof services extends fc.Arbitrary<infer T> ? T : never;

function toService(draft: Draft): VirtualService {
  const isSix = draft.address.includes(':');
  const base = {
    address: address(draft.address),
    protocol: draft.protocol,
    port: port(draft.port),
    masquerade: draft.masquerade,
    ...(draft.ranges === undefined
      ? {}
      : { sourceRanges: draft.ranges.map(() => prefix(isSix ? '2001:db8::/32' : '10.0.0.0/9')) }),
  } as const;
  if (draft.form === 'node-ports') {
    return { ...base, dispatch: { kind: 'node-ports', nodePort: port(30_000 + draft.port) } };
  }
  if (draft.form === 'hold') return { ...base, dispatch: { kind: 'hold', logGroup: 5 } };
  if (draft.form === 'routed') return { ...base, dispatch: { kind: 'route-unchanged' } };
  const backends = draft.backends.map((last) => ({
    address: address(isSix ? `fd00::${last}` : `10.0.0.${last}`),
    port: port(8080),
  }));
  const affinity =
    draft.form === 'client-hash'
      ? ({ kind: 'client-hash' } as const)
      : draft.form === 'client-timeout'
        ? ({ kind: 'client-timeout', seconds: 60 } as const)
        : ({ kind: 'none' } as const);
  return { ...base, affinity, dispatch: { kind: 'slots', backends } };
}

export const changes: fc.Arbitrary<LayoutChange> = fc
  .record({
    set: fc
      .uniqueArray(services, {
        maxLength: 4,
        selector: (s) => `${s.address} ${s.protocol} ${s.port}`,
      })
      .map((drafts) => drafts.map(toService)),
    remove: fc
      .array(services, { maxLength: 3 })
      .map((drafts) => drafts.map(toService).map(serviceKey)),
    nodes: fc.option(
      fc
        .uniqueArray(fc.integer({ min: 1, max: 9 }))
        .map((n) => n.map((i) => address(`10.7.0.${i}`))),
      { nil: undefined },
    ),
  })
  .map(({ nodes, ...rest }) => (nodes === undefined ? rest : { ...rest, nodes }));
