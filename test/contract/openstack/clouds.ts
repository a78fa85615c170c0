import { afterAll, beforeAll, describe } from 'vitest';
import { Cloud, type CloudOptions } from '../../../packages/openstack/src/cloud.ts';
import type { CloudConfig } from '../../../packages/openstack/src/config/cloud-config.ts';
import {
  cloudConfigFrom,
  type CloudSettings,
} from '../../../packages/openstack/src/config/settings.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { quickPauses } from '../../openstack/quick-clock.ts';
import { isAvailable } from '../../services/missing.ts';
import {
  prepareOpenStack,
  startOpenStack,
  type OpenStackOptions,
} from '../../services/openstack.ts';
import { accounts } from '../../services/openstack/seed.ts';
import { chosenKinds, type CloudKind } from './cloud-choice.ts';

/**
 * Contents of every cloud of the contract: the accounts, networks and flavors of
 * test/services/openstack/seed.ts.
 */
export interface RunningCloud {
  readonly authUrl: string;
  readonly networkUrl: string;
  readonly loadBalancerUrl: string;
  readonly region: string;
  setMemberDown(member: string, isDown?: boolean): Promise<void> | void;
  setComputeBroken(isBroken: boolean): Promise<void> | void;
  /**
   * Keeps load balancers PENDING until the returned function is called; absent for clouds that take time
   * anyway.
   */
  holdProvisioning?(): () => void;
  stop(): Promise<void>;
}

interface CloudUnderTest {
  readonly kind: CloudKind;
  readonly name: string;
  isAvailable(): Promise<boolean>;
  start(options: OpenStackOptions): Promise<RunningCloud>;
}

const cloudsUnderTest: readonly CloudUnderTest[] = [
  {
    kind: 'embedded',
    name: 'the embedded cloud',
    isAvailable: async () => true,
    start: (options) => startEmbedded(options),
  },
  {
    kind: 'real',
    name: 'real Keystone, Neutron and Octavia',
    isAvailable: () => isAvailable(() => prepareOpenStack()),
    start: startOpenStack,
  },
];

/**
 * LBaaS v2 on Neutron's address. Mitaka can't be installed any more, so the embedded cloud is used instead.
 */
export const mitaka: CloudUnderTest = {
  kind: 'embedded',
  name: 'the embedded cloud as of Mitaka',
  isAvailable: async () => true,
  start: (options) => startEmbedded(options, 'lbaas-v2'),
};

async function startEmbedded(
  options: OpenStackOptions,
  loadBalancing: 'octavia' | 'lbaas-v2' = 'octavia',
): Promise<RunningCloud> {
  const { tokenLifetimeSeconds, pageSize, populatedCreateDefect } = options;
  const cloud = await startEmbeddedOpenStack({
    loadBalancing,
    ...(tokenLifetimeSeconds === undefined ? {} : { tokenLifetimeMs: tokenLifetimeSeconds * 1000 }),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(populatedCreateDefect === undefined ? {} : { populatedCreateDefect }),
  });
  return { ...cloud, holdProvisioning: () => cloud.provisioning.hold() };
}

export type AccountName = keyof typeof accounts;

/** A cloud for a test. */
export class TestCloud {
  readonly running: RunningCloud;
  readonly #opened: Cloud[] = [];

  constructor(running: RunningCloud) {
    this.running = running;
  }

  /** Options for a client that waits a lot: short pauses if the cloud needs no time for its work. */
  get pauses(): Partial<CloudOptions> {
    return this.running.holdProvisioning === undefined ? {} : quickPauses;
  }

  /** The settings of clouds.yaml for an account, with changes of the test; undefined removes one. */
  settings(account: AccountName, change: CloudSettings = {}): CloudSettings {
    const { user, password, domain, project } = accounts[account];
    return {
      auth_url: this.running.authUrl,
      region_name: this.running.region,
      username: user,
      password,
      user_domain_name: domain,
      project_name: project,
      project_domain_name: domain,
      ...change,
    };
  }

  open(
    account: AccountName,
    change: CloudSettings = {},
    options: Partial<CloudOptions> = {},
  ): Cloud {
    return this.openWith(cloudConfigFrom(account, this.settings(account, change)), options);
  }

  openWith(config: CloudConfig, options: Partial<CloudOptions> = {}): Cloud {
    const cloud = new Cloud(config, { log: discardLog, metrics: noMetrics, ...options });
    this.#opened.push(cloud);
    return cloud;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#opened.map((cloud) => cloud.close()));
    await this.running.stop();
  }
}

/** Runs the same tests on every available cloud, and on the given others. Each file gets its own cloud. */
export async function describeEveryCloud(
  what: string,
  options: OpenStackOptions,
  tests: (cloud: () => TestCloud) => void,
  others: readonly CloudUnderTest[] = [],
): Promise<void> {
  const chosen = chosenKinds(process.env);
  for (const candidate of [...cloudsUnderTest, ...others]) {
    if (!chosen.includes(candidate.kind)) continue;
    const available = await candidate.isAvailable();
    describe.skipIf(!available)(`${what} on ${candidate.name}`, () => {
      let cloud: TestCloud | undefined;
      beforeAll(async () => {
        cloud = new TestCloud(await candidate.start(options));
      });
      afterAll(async () => {
        await cloud?.stop();
      });
      tests(() => {
        if (cloud === undefined) throw new Error('the cloud has not started');
        return cloud;
      });
    });
  }
}

/** A name that no other test uses, for clouds that are used by many. */
let names = 0;
export function uniqueName(prefix: string): string {
  names += 1;
  return `${prefix}-${process.pid}-${names}`;
}
