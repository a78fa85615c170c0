import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { MemoryDriver, memoryRouting } from '@causeway/nftables/drivers/memory-driver';
import { serviceKey, type VirtualService } from '@causeway/nftables/compile/virtual-service';
import { discardLog } from '@causeway/base/observability/log';
import { EngineRuleset } from '../engine-ruleset.ts';
import { HarmlessRuleset } from './harmless-ruleset.ts';

const { signal } = new AbortController();
const own = parseAddress('10.77.0.11');
const other = parseAddress('192.0.2.1');
const loopback = parseAddress('::1');

const service = (address: typeof own): VirtualService => ({
  address,
  protocol: 'TCP',
  port: parsePort(80),
  dispatch: { kind: 'slots', backends: [] },
});

test('writes no rules for a stored address that is in use elsewhere, and writes the others', async () => {
  const layout = {
    table: 'causeway',
    hashSeed: 7,
    localSources: [],
    hairpin: false,
    resumeConnections: true,
  };
  const engine = new EngineRuleset(new MemoryDriver('causeway'), layout, memoryRouting('causeway'));
  const taken = new Map([[own, "this gateway's own"]]);
  const ruleset = new HarmlessRuleset(engine, taken, discardLog);
  const stored = [own, loopback, other].map(service);
  await ruleset.replaceAll(
    { set: stored, nodes: [], drainingNodes: [], policies: [], pods: [] },
    signal,
  );
  expect(engine.virtualAddresses()).toEqual(new Set([other]));
  await ruleset.commit({ set: [service(own)], nodes: [] }, signal);
  expect(engine.virtualAddresses()).toEqual(new Set([other]));
  // An update without it removes rules that don't exist.
  await ruleset.commit({ remove: stored.map(serviceKey) }, signal);
  expect(engine.virtualAddresses()).toEqual(new Set());
});
