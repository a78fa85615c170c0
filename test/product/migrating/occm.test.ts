import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { endpointSlices } from '../../../packages/kubernetes/src/objects/resources.ts';
import { newSlice } from '../../octavia/lab.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { waitFor } from '../../services/wait-for.ts';
import { MigrationPage, type PageStep } from './migration-page.ts';
import { OctaviaStage } from './octavia-stage.ts';
import { runOccm, serveAsOccm } from './simulated-occm.ts';

interface Manifest {
  readonly metadata: { readonly name: string; annotations?: Record<string, string> };
  readonly spec: Record<string, unknown>;
}

describe.skipIf(!(await isAvailable(() => ensureProgram('kubectl'))))('moving from OCCM', () => {
  const page = new MigrationPage('occm');
  let stage: OctaviaStage;
  let stopOccm: () => Promise<void>;
  let address = '';

  const startController = (more: object = {}) => {
    const { privateSubnet, publicNetwork } = stage.lab;
    const own = { subnets: [privateSubnet], floatingNetwork: publicNetwork, members: 'Pod' };
    return stage.startController(page.settings(), own, more);
  };
  const isServed = async (name: string) => {
    const { status } = (await stage.lab.service(name)) ?? {};
    return status?.conditions?.[0]?.status === 'True' && status.loadBalancer?.ingress?.[0]?.ip;
  };
  const served = (name: string) => waitFor(`${name} to be served`, () => isServed(name));
  const balancerNames = async () => (await stage.lab.balancers()).map(({ name }) => name);
  const write = (name: string, manifest: object) => stage.terminal.write(name, stringify(manifest));
  const read = async (name: string) =>
    parse(await fs.readFile(stage.terminal.file(name), 'utf8')) as Manifest;

  beforeAll(async () => {
    stage = await OctaviaStage.open();
    await serveAsOccm(stage.lab, 'web');
    address = (await stage.lab.addressOf('web')) ?? '';
    stopOccm = runOccm(stage.lab);
    await startController();
  });
  afterAll(async () => {
    await stopOccm();
    await stage.close();
  });

  page.step('Steps, for each Service', 1, async ({ commands: [annotate] }) => {
    await stage.run(annotate);
    // Without a class it still belongs to OCCM.
    expect(await balancerNames()).toEqual(['kube_service_prod_default_web']);
  });

  page.step('Steps, for each Service', 2, async ({ commands: [get], text }) => {
    await stage.run(get);
    const manifest = withoutFields(await read('web.yaml'), { text });
    manifest.spec['loadBalancerClass'] = 'causeway.dev/octavia';
    const name = 'loadbalancer.openstack.org/load-balancer-address';
    manifest.metadata.annotations = { ...manifest.metadata.annotations, [name]: address };
    await write('web.yaml', manifest);
  });

  page.step('Steps, for each Service', 3, async ({ commands: [again] }) => {
    await stage.run(again);
    expect(await served('web')).toBe(address);
    const [balancer, ...others] = await stage.lab.balancers();
    expect([balancer?.name, others]).toEqual(['default/web', []]);
    const [floating] = await stage.lab.floatingIps();
    expect(floating).toMatchObject({ address, portId: balancer?.vipPortId });
  });

  page.step('Without the gap', 1, async () => {
    await serveAsOccm(stage.lab, 'shop');
    await stage.lab.client.create(endpointSlices, newSlice('shop-causeway', ['10.10.1.1']));
    await write('shop.yaml', beside('shop-causeway'));
    await stage.run('kubectl apply -f shop.yaml');
    expect(await served('shop-causeway')).not.toBe(await stage.lab.addressOf('shop'));
  });

  page.step('Without the gap', 2, async () => {
    const both = ['default/shop-causeway', 'kube_service_prod_default_shop'];
    expect(await balancerNames()).toEqual(expect.arrayContaining(both));
  });

  page.step('Without the gap', 3, async ({ commands: [remove = ''] }) => {
    await stage.run(remove.replace('web', 'shop'));
    expect(await balancerNames()).toEqual(['default/shop-causeway', 'default/web']);
    expect(await isServed('shop-causeway')).not.toBe(false);
  });

  page.step('Keeping a load balancer', 1, async () => {
    const id = await serveAsOccm(stage.lab, 'mail', 25);
    const share = { 'loadbalancer.openstack.org/load-balancer-id': id };
    await stage.lab.client.create(endpointSlices, newSlice('post', ['10.10.1.1']));
    await write('post.yaml', beside('post', 25, share));
    await stage.run('kubectl apply -f post.yaml');
    await waitFor('the Event', async () =>
      (await stage.run('kubectl get events')).includes('PortTaken'),
    );
  });

  page.step('Keeping a load balancer', 2, async () => {
    const balancing = await stage.lab.balancing();
    const all = await stage.lab.balancers();
    const mail = all.find(({ name }) => name.endsWith('mail'));
    const { signal } = new AbortController();
    await balancing.deleteListener(mail?.listeners[0]?.id ?? '', { signal });
    expect(await served('post')).toBe(await stage.lab.addressOf('mail'));
    expect((await stage.lab.klb('post'))?.status?.loadbalancer?.id).toBe(mail?.id);
  });

  page.step('When all are over', 1, async () => {
    await stopOccm();
    await stage.run('kubectl get services');
  });

  page.step('When all are over', 2, async () => {
    await stage.stopController();
    await startController({ defaultProvider: 'octavia' });
    await stage.lab.client.create(endpointSlices, newSlice('plain', ['10.10.1.1']));
    const { spec, ...rest } = beside('plain', 8080);
    await write('plain.yaml', { ...rest, spec: { ...spec, loadBalancerClass: undefined } });
    await stage.run('kubectl apply -f plain.yaml');
    await served('plain');
  });

  page.step('The way back', 1, async ({ commands: [annotate] }) => {
    await stage.stopController();
    await startController();
    await stage.run(annotate);
    await stage.run('kubectl delete service web');
    expect(await balancerNames()).not.toContain('default/web');
  });

  page.step('The way back', 2, async () => {
    const kept = (await stage.lab.floatingIps()).find((each) => each.address === address);
    expect(kept).toMatchObject({ address });
    expect(kept?.portId).toBeUndefined();
  });

  page.end();
});

/** Removes the fields that the step names. */
function withoutFields(manifest: Manifest, { text }: Pick<PageStep, 'text'>): Manifest {
  const named = text.slice(text.indexOf('take out'), text.indexOf('and set'));
  const copy = structuredClone(manifest) as unknown as Record<string, Record<string, unknown>>;
  for (const [, field = ''] of named.matchAll(/`([^`]+)`/g)) {
    const [first = '', second] = field.split('.');
    if (second === undefined) delete copy[first];
    else delete copy[first]?.[second];
  }
  return copy as unknown as Manifest;
}

function beside(name: string, port = 80, annotations: Record<string, string> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name, annotations },
    spec: {
      type: 'LoadBalancer',
      loadBalancerClass: 'causeway.dev/octavia',
      ports: [{ port, targetPort: 8080 }],
    },
  };
}
