import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { installCustomResources } from '../../../packages/kubernetes/src/objects/custom-resources.ts';
import type { KubeObject } from '../../../packages/kubernetes/src/objects/object.ts';
import { defineResource } from '../../../packages/kubernetes/src/objects/resource.ts';
import {
  endpointSlices,
  namespaces,
  pods,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { never } from '../../contract/ipam/server-under-test.ts';
import { named } from '../../contract/pool/cluster-under-test.ts';
import { sourceDirectory } from '../../services/programs.ts';
import { AnnouncerLab, canRun, lan, nodeName } from './lab.ts';

const namespace = 'metallb-system';
const kindOf = (plural: string, kind: string) =>
  defineResource<KubeObject & { spec?: object; status?: Record<string, unknown> }>({
    group: 'metallb.io',
    version: 'v1beta1',
    plural,
    kind,
    namespaced: true,
  });
const l2Statuses = kindOf('servicel2statuses', 'ServiceL2Status');

const available = await canRun(['metallb-controller', 'metallb-speaker']);
let lab: AnnouncerLab;

describe.skipIf(!available)('MetalLB', () => {
  beforeAll(async () => {
    lab = await AnnouncerLab.start();
    const { client } = lab.cluster;
    await client.create(namespaces, { metadata: { name: namespace } });
    await installItsResources();
    const addresses = ['203.0.113.100-203.0.113.109', '2001:db8:1::100-2001:db8:1::109'];
    await client.create(kindOf('ipaddresspools', 'IPAddressPool'), {
      metadata: { namespace, name: 'shared' },
      spec: { addresses, autoAssign: false },
    });
    await client.create(kindOf('l2advertisements', 'L2Advertisement'), {
      metadata: { namespace, name: 'shared' },
      spec: { ipAddressPools: ['shared'], interfaces: [lan] },
    });
    // Its statuses belong to the pod that it is configured to be.
    const containers = [{ name: 'speaker', image: 'metallb' }];
    await client.create(pods, { metadata: { namespace, name: 'speaker' }, spec: { containers } });
    const common = [`--namespace=${namespace}`];
    await lab.startAnnouncer('metallb-controller', [
      ...[...common, '--webhook-mode=disabled', '--port=7472'],
    ]);
    await lab.startAnnouncer('metallb-speaker', [
      ...[...common, `--node-name=${nodeName}`, '--pod-name=speaker', '--host=127.0.0.1'],
      '--port=7473',
    ]);
    lab.cluster.startController({ ipam: lab.ipam });
  });

  afterAll(() => lab.stop());

  test('MetalLB is found, announces its addresses, and reports them', async () => {
    await lab.cluster.create('web', { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    for (const [addressType, address] of [
      ['IPv4', '10.0.0.5'],
      ['IPv6', 'fd00::5'],
    ] as const) {
      await lab.cluster.client.create(endpointSlices, {
        metadata: {
          ...named(`web-${addressType.toLowerCase()}`),
          labels: { 'kubernetes.io/service-name': 'web' },
        },
        addressType,
        endpoints: [{ addresses: [address], conditions: { ready: true }, nodeName }],
        ports: [{ port: 80 }],
      });
    }
    const addresses = await lab.shown('web', 2);
    const annotated = await lab.cluster.annotation('web', 'metallb.io/loadBalancerIPs');
    expect(annotated?.split(',').toSorted()).toEqual([...addresses].toSorted());
    for (const address of addresses) {
      expect(await lab.stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
    }
    await expect.poll(announcedServices, { timeout: 120_000, interval: 100 }).toEqual(['web']);
  });

  test('a deleted Service is no longer announced, and then its addresses are released as withdrawn', async () => {
    const addresses = await lab.cluster.addressesOf('web');
    await lab.cluster.client.delete(services, named('web'));
    await lab.gone('web');
    expect(await announcedServices()).toEqual([]);
    for (const address of addresses) {
      expect(await lab.restOf(address)).toBeLessThanOrEqual(60_000);
    }
  });
});

/** As MetalLB ships them: its objects must pass its own schemas. */
async function installItsResources(): Promise<void> {
  const sources = await sourceDirectory('metallb-controller');
  const directory = path.join(sources, 'config', 'crd', 'bases');
  const files = await fs.readdir(directory);
  const texts = await Promise.all(
    files.map((file) => fs.readFile(path.join(directory, file), 'utf8')),
  );
  type Definition = Parameters<typeof installCustomResources>[1][number];
  const definitions = texts.map((text) => parse(text) as Definition);
  const options = { clock: systemClock, signal: never, fieldManager: 'test' };
  await installCustomResources(lab.cluster.client, definitions, options);
}

async function announcedServices(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { status } of lab.cluster.client.list(l2Statuses)) {
    found.push(status?.['serviceName']);
  }
  return found;
}
