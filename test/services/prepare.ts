import type { Part, Suite } from '../../scripts/suites.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import { FreshMachine } from './fresh-machine.ts';
import { ensureProductImage } from './image/product-image.ts';
import { prepareOpenStack } from './openstack.ts';
import { prepareInOrder, type Step } from './prepare-in-order.ts';
import { dropBuildCache, ensureProgram } from './programs.ts';
import { prepareRealCluster } from './real-cluster/real-cluster.ts';

const parts: Readonly<Record<Part, () => Promise<unknown>>> = {
  'real cluster': prepareRealCluster,
  'product image': ensureProductImage,
  OpenStack: prepareOpenStack,
  'fresh machine': () => FreshMachine.prepare(),
};

/**
 * Gets the programs and parts of suites before their first test, so that no test's time limit includes a
 * compiler. The suites that run first are prepared first.
 */
export class Preparation {
  /** One line for each thing that this machine can't get. */
  readonly finished: Promise<string[]>;
  readonly #ready: ReadonlyMap<string, Promise<void>>;

  constructor(suites: readonly Suite[]) {
    const { ready, missing } = prepareInOrder(
      suites.map((suite) => ({ name: suite.name, steps: stepsOf(suite) })),
    );
    this.#ready = ready;
    this.finished = missing.then(async (lines) => {
      await dropBuildCache();
      return lines;
    });
  }

  /** Resolves when the suite can start: everything that it needs is available, or failed. */
  async ready(suite: Suite): Promise<void> {
    await this.#ready.get(suite.name);
  }
}

function stepsOf({ debianPackages, programs, parts: needed }: Suite): Step[] {
  return [
    { name: debianPackages.join(), run: () => ensureDebianPackages(debianPackages) },
    ...programs.map((name) => ({ name, run: () => ensureProgram(name) })),
    ...needed.map((name) => ({ name, run: parts[name] })),
  ];
}
