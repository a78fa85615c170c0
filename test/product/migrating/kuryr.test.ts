import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parse } from 'yaml';
import { endpoints } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  klbFinalizer,
  serviceFinalizer,
} from '../../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { leaveAsKuryr } from '../../octavia/kuryr.ts';
import { essenceOf } from '../../octavia/lab.ts';
import { untilServed } from '../../octavia/until.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { waitFor } from '../../services/wait-for.ts';
import { MigrationPage } from './migration-page.ts';
import { OctaviaStage } from './octavia-stage.ts';
import { stubDeployment, stubNamespace } from './stub-objects.ts';
import { hasOpenStackCommand } from './terminal.ts';

const definition = 'customresourcedefinition/kuryrloadbalancers.openstack.org';
const patienceMs = 400_000;
/** One with its own resource, and one of a Kuryr that kept its state in annotations. */
const names = ['web', 'old'];
/** A Service that is deleted after the move. */
const leaving = 'leaving';

interface Definition {
  readonly spec: {
    readonly versions: {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: Record<'spec' | 'status', { properties: Record<string, unknown> }>;
        };
      };
    }[];
  };
}

describe.skipIf(!(await isAvailable(() => ensureProgram('kubectl'))))('moving from Kuryr', () => {
  const page = new MigrationPage('kuryr');
  let stage: OctaviaStage;
  let subnet = '';
  let before: object[] = [];
  let addresses: (string | undefined)[] = [];

  beforeAll(async () => {
    stage = await OctaviaStage.open();
    const { lab, terminal } = stage;
    subnet = await lab.serviceSubnet();
    for (const name of [...names, leaving]) {
      const asAnnotations = name === 'old';
      await leaveAsKuryr(lab, { name, type: 'LoadBalancer', subnet, asAnnotations });
    }
    const items = [
      stubNamespace('causeway-system'),
      stubDeployment('kube-system', 'kuryr-controller'),
      stubDeployment('causeway-system', 'causeway-controller'),
    ];
    await terminal.write('before.json', { apiVersion: 'v1', kind: 'List', items });
    await stage.run('kubectl apply -f before.json');
    // Kuryr's own definition lacks the fields that Causeway adds.
    const made = JSON.parse(await stage.run(`kubectl get ${definition} -o json`)) as Definition;
    for (const { schema } of made.spec.versions) {
      const { spec, status } = schema.openAPIV3Schema.properties;
      delete spec.properties['options'];
      delete status.properties['version'];
    }
    await terminal.write('kuryr.json', made);
    await stage.run('kubectl replace -f kuryr.json');
  });
  afterAll(() => stage.close());

  const check = async () => ({
    essence: (await stage.lab.balancers()).map(essenceOf),
    addresses: await Promise.all(names.map((name) => stage.lab.addressOf(name))),
  });
  const replicas = (where: string) =>
    stage.run(`kubectl -n ${where} get deployments -o jsonpath='{..spec.replicas}'`);

  page.step('Steps', 1, async ({ commands: [klbs, services, balancers] }) => {
    expect(await stage.run(klbs)).toContain('name: web');
    expect(await stage.run(services)).toContain('LoadBalancer');
    if (hasOpenStackCommand) expect(await stage.run(balancers)).toContain('default/web');
    ({ essence: before, addresses } = await check());
    expect(addresses).not.toContain(undefined);
  });

  page.step('Steps', 2, async ({ commands: [stop] }) => {
    await stage.run(stop);
    expect(await replicas('kube-system')).toBe('0');
    expect(await check()).toEqual({ essence: before, addresses });
  });

  page.step('Steps', 3, async ({ commands: [update] }) => {
    await stage.run(update);
    const text = await stage.run(`kubectl get ${definition} -o yaml`);
    const [version] = (parse(text) as Definition).spec.versions;
    const { properties } = version?.schema.openAPIV3Schema ?? {};
    expect(Object.keys(properties?.spec.properties ?? {})).toContain('options');
    const { publicNetwork } = stage.lab;
    const own = { subnets: [subnet], memberSubnet: undefined, floatingNetwork: publicNetwork };
    await stage.startController(page.settings(), own);
  });

  page.step('Steps', 4, async () => {
    for (const name of [...names, leaving]) await untilServed(stage.lab, name, patienceMs);
    const [first] = await stage.lab.balancers();
    expect(first?.description).not.toBe('');
    expect(await stage.lab.klb('old')).toBeDefined();
  });

  page.step('Steps', 5, async () => {
    expect(await check()).toEqual({ essence: before, addresses });
    const finalizersOf = async (name: string) =>
      (await stage.lab.client.find(endpoints, named(name)))?.metadata?.finalizers ?? [];
    expect(await finalizersOf('web')).toHaveLength(1);
    await stage.run(`kubectl delete service ${leaving}`);
    await waitFor(
      'its Endpoints to be free',
      async () => (await finalizersOf(leaving)).length === 0,
    );
    const { essence } = await check();
    expect(essence).toHaveLength(names.length);
    before = before.filter((each) => essence.some((left) => isDeepStrictEqual(left, each)));
  });

  page.step('The way back', 1, async ({ commands: [stop] }) => {
    await stage.run(stop);
    await stage.stopController();
    expect(await replicas('causeway-system')).toBe('0');
  });

  page.step('The way back', 2, async ({ commands: [dry, really] }) => {
    await waitFor('the lease to be given up', async () =>
      (await stage.run(dry)).includes('default/web: would be handed back'),
    );
    const text = await stage.run(really);
    for (const name of names) expect(text).toContain(`default/${name}: handed back`);
  });

  page.step('The way back', 3, async () => {
    expect((await stage.lab.klb('web'))?.status).toMatchObject({ version: 1 });
  });

  page.step('The way back', 4, async ({ commands: [start] }) => {
    await stage.run(start);
    expect(await replicas('kube-system')).toBe('1');
    expect(await check()).toEqual({ essence: before, addresses });
    for (const name of names) {
      const { metadata, status } = (await stage.lab.klb(name)) ?? {};
      expect(metadata?.finalizers).toEqual([klbFinalizer]);
      expect(status?.loadbalancer?.ip).toBeDefined();
      const service = await stage.lab.service(name);
      expect(service?.metadata?.finalizers).toEqual([serviceFinalizer]);
    }
  });

  page.end();
});

const named = (name: string) => ({ namespace: 'default', name });
