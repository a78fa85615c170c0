import type { Kernel } from '../../../src/agent/kernel.ts';
import { EngineRuleset } from '../../../src/agent/engine-ruleset.ts';
import { MemoryDriver, memoryRouting } from '../../../src/nftables/memory-driver.ts';

/** A kernel in memory: the engine with the driver that keeps its table as data. */
export function memoryKernel(): Kernel & { readonly driver: MemoryDriver } {
  const driver = new MemoryDriver('causeway');
  const settings = {
    table: 'causeway',
    hashSeed: 1,
    localSources: [],
    hairpin: false,
    resumeConnections: true,
  };
  const ruleset = new EngineRuleset(driver, settings, memoryRouting(settings.table));
  return {
    driver,
    ruleset,
    forgetConnections: () => Promise.resolve(),
    forgetAllConnections: () => Promise.resolve(),
    foreignChanges: (signal) => driver.watch(signal),
    countAdverts: () => Promise.resolve(0n),
    look: () => Promise.resolve(),
    settings: () => [],
    notFailoverSafe: () => ruleset.notFailoverSafe(),
    elements: () => ruleset.elements,
    countConnections: () => Promise.resolve([]),
    connections: () => null,
  };
}
