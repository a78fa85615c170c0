import type { Part, Suite } from '../../scripts/suites.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import { FreshMachine } from './fresh-machine.ts';
import { ensureProductImage } from './image/product-image.ts';
import { prepareOpenStack } from './openstack.ts';
import { prepareEach } from './prepare-each.ts';
import { dropBuildCache, ensureProgram } from './programs.ts';
import { prepareRealCluster } from './real-cluster/real-cluster.ts';

const parts: Readonly<Record<Part, () => Promise<unknown>>> = {
  'real cluster': prepareRealCluster,
  'product image': ensureProductImage,
  OpenStack: prepareOpenStack,
  'fresh machine': () => FreshMachine.prepare(),
};

/**
 * Gets the programs and parts of the suites before the first test, so that no test's time limit pays
 * for a compiler. Returns one line for each thing that this machine can't get.
 */
export async function prepareServices(suites: readonly Suite[]): Promise<string[]> {
  const all = <T>(of: (suite: Suite) => readonly T[]) => [...new Set(suites.flatMap(of))].sort();
  const packages = all((suite) => suite.debianPackages);
  const missing = await prepareEach([
    () => ensureDebianPackages(packages),
    ...all((suite) => suite.programs).map((name) => () => ensureProgram(name)),
    ...all((suite) => suite.parts).map((part) => parts[part]),
  ]);
  await dropBuildCache();
  return missing;
}
