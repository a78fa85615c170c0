import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leases, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { AnnouncerDetector } from '../../../packages/causeway/src/pool/detect-announcer.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { never } from '../../contract/ipam/server-under-test.ts';
import { named } from '../../contract/pool/cluster-under-test.ts';
import { waitFor } from '../../services/wait-for.ts';
import { AnnouncerLab, canRun, lan, nodeName } from './lab.ts';

const available = await canRun(['kube-vip']);
let lab: AnnouncerLab;

describe.skipIf(!available)('kube-vip', () => {
  beforeAll(async () => {
    lab = await AnnouncerLab.start();
    const modes = ['--services', '--arp', '--servicesElection', '--leaderElection'];
    const where = ['--interface', lan, '--prometheusHTTPServer', '127.0.0.1:2112'];
    await lab.startAnnouncer('kube-vip', ['manager', ...modes, ...where], {
      vip_nodename: nodeName,
    });
    lab.cluster.startController({ ipam: lab.ipam, announcer: 'kube-vip' });
  });

  afterAll(() => lab.stop());

  test('kube-vip announces its addresses in both families, and is found by its lease', async () => {
    await lab.cluster.create('web', { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    const addresses = await lab.shown('web', 2);
    const annotated = await lab.cluster.annotation('web', 'kube-vip.io/loadbalancerIPs');
    expect(annotated?.split(',')).toEqual(addresses);
    for (const address of addresses) {
      await lab.onInterface(address, true);
      expect(await lab.stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
    }
    const lease = await lab.cluster.client.get(leases, named('kubevip-web'));
    expect(lease.spec?.holderIdentity).toBe(nodeName);
    const detector = new AnnouncerDetector(lab.cluster.client, systemClock);
    expect(await detector.find(never)).toEqual(['kube-vip']);
  });

  test('when a Service is deleted, kube-vip withdraws its addresses, and then they are released as withdrawn', async () => {
    const addresses = await lab.cluster.addressesOf('web');
    await lab.cluster.client.delete(services, named('web'));
    await lab.gone('web');
    for (const address of addresses) {
      expect(await lab.restOf(address)).toBeLessThanOrEqual(60_000);
      await lab.onInterface(address, false);
    }
  });

  test('a Service that is recreated at once does not keep the previous address', async () => {
    await lab.cluster.create('anew');
    const [before = ''] = await lab.shown('anew', 1);
    await lab.onInterface(before, true);
    await lab.cluster.client.delete(services, named('anew'));
    await lab.gone('anew');
    await lab.cluster.create('anew');
    const [after = ''] = await lab.shown('anew', 1);
    await lab.onInterface(after, true);
    if (after !== before) {
      // The lease is held again, for the new Service: the deletion was seen.
      expect(await lab.restOf(before)).toBeLessThanOrEqual(60_000);
      await lab.onInterface(before, false);
    }
    expect(await lab.stateOf(after)).toMatchObject({ state: 'held', cluster: 'blue' });
  });

  test('kube-vip withdraws a reassigned address as soon as it gets the next one', async () => {
    await lab.cluster.create('moved');
    const [before = ''] = await lab.shown('moved', 1);
    await lab.onInterface(before, true);
    await lab.cluster.stopController();
    await lab.giveToOthers(before);
    lab.cluster.startController({ ipam: lab.ipam, announcer: 'kube-vip' });
    await lab.onInterface(before, false);
    expect((await lab.cluster.read('moved'))?.spec?.type).toBe('LoadBalancer');
    const [after = ''] = await waitFor('the next address', async () => {
      const addresses = await lab.cluster.addressesOf('moved');
      return addresses.includes(before) || addresses.length === 0 ? undefined : addresses;
    });
    await lab.onInterface(after, true);
    expect(await lab.stateOf(before)).toMatchObject({ state: 'held', cluster: 'green' });
    expect(await lab.stateOf(after)).toMatchObject({ state: 'held', cluster: 'blue' });
  });

  test('kube-vip keeps announcing a Service that is no longer a load balancer, and the address is not reassigned', async () => {
    await lab.cluster.create('changed');
    const [address = ''] = await lab.shown('changed', 1);
    await lab.onInterface(address, true);
    await lab.cluster.client.patchMerge(services, named('changed'), { spec: { type: 'NodePort' } });
    // Services are processed in order: once this one is announced, the change has been seen.
    await lab.cluster.create('later');
    const [later = ''] = await lab.shown('later', 1);
    await lab.onInterface(later, true);
    expect(await lab.isOnInterface(address)).toBe(true);
    expect(await lab.stateOf(address)).toMatchObject({ state: 'held' });
    // It does not stop when the Service is deleted after that, either.
    await lab.cluster.client.delete(services, named('changed'));
    await lab.gone('changed');
    await lab.cluster.client.delete(services, named('later'));
    await lab.restOf(later);
    await lab.onInterface(later, false);
    expect(await lab.isOnInterface(address)).toBe(true);
    expect(await lab.stateOf(address)).toMatchObject({ state: 'held' });
  });
});
