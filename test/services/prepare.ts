import { ensureDebianPackages } from './debian-packages.ts';
import { ensureProductImage } from './image/product-image.ts';
import { MissingError } from './missing.ts';
import { prepareOpenStack } from './openstack.ts';
import { prepareRealCluster } from './real-cluster/real-cluster.ts';
import { dropBuildCache, ensureProgram, type ProgramName } from './programs.ts';

/** The Debian packages that kernel and browser tests need. Suites with needs of their own ask for them there. */
const debianPackages = [
  'chromium',
  'conntrack',
  'curl',
  'fish',
  'iproute2',
  'iputils-arping',
  'iputils-ping',
  'keepalived',
  'nftables',
  'openssl',
  'procps',
  'prometheus',
  'zsh',
];

const programs: readonly ProgramName[] = [
  'etcd',
  'helm',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kubectl',
  'porcupine',
];

/**
 * Gets everything that the tests run for real before the first test, so that no test's time limit
 * pays for a compiler. Answers with a line for each thing that can't be had here.
 */
export async function prepareServices(): Promise<string[]> {
  const missing: string[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof MissingError)) throw error;
      missing.push(error.message);
    }
  };
  await attempt(() => ensureDebianPackages(debianPackages));
  for (const name of programs) await attempt(() => ensureProgram(name));
  await attempt(prepareRealCluster);
  await attempt(ensureProductImage);
  await attempt(prepareOpenStack);
  await dropBuildCache();
  return missing;
}
