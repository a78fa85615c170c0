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

  test('kube-vip announces what it is told, in both families, and is found by its lease', async () => {
    await lab.cluster.create('web', { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    const addresses = await lab.shown('web', 2);
    const told = await lab.cluster.annotation('web', 'kube-vip.io/loadbalancerIPs');
    expect(told?.split(',')).toEqual(addresses);
    for (const address of addresses) {
      await lab.onInterface(address, true);
      expect(await lab.stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
    }
    const lease = await lab.cluster.client.get(leases, named('kubevip-web'));
    expect(lease.spec?.holderIdentity).toBe(nodeName);
    const detector = new AnnouncerDetector(lab.cluster.client, systemClock);
    expect(await detector.find(never)).toEqual(['kube-vip']);
  });

  test('a deleted Service goes, kube-vip stops, and then its addresses are freed as withdrawn', async () => {
    const addresses = await lab.cluster.addressesOf('web');
    await lab.cluster.client.delete(services, named('web'));
    await lab.gone('web');
    for (const address of addresses) {
      expect(await lab.restOf(address)).toBeLessThanOrEqual(60_000);
      await lab.onInterface(address, false);
    }
  });

  test('a Service that is created anew at once does not keep the address of the one before', async () => {
    await lab.cluster.create('anew');
    const [before = ''] = await lab.shown('anew', 1);
    await lab.onInterface(before, true);
    await lab.cluster.client.delete(services, named('anew'));
    await lab.gone('anew');
    await lab.cluster.create('anew');
    const [after = ''] = await lab.shown('anew', 1);
    await lab.onInterface(after, true);
    if (after !== before) {
      // The lease is held again, and for the other one: the end of the first was seen.
      expect(await lab.restOf(before)).toBeLessThanOrEqual(60_000);
      await lab.onInterface(before, false);
    }
    expect(await lab.stateOf(after)).toMatchObject({ state: 'held', cluster: 'blue' });
  });

  test('it leaves an address that others were given as soon as it is told the next one', async () => {
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

  test('it goes on announcing what is no load balancer any more, and the address is given to nobody', async () => {
    await lab.cluster.create('changed');
    const [address = ''] = await lab.shown('changed', 1);
    await lab.onInterface(address, true);
    await lab.cluster.client.patchMerge(services, named('changed'), { spec: { type: 'NodePort' } });
    // Who is announced later is seen later: the change has been seen, too.
    await lab.cluster.create('later');
    const [later = ''] = await lab.shown('later', 1);
    await lab.onInterface(later, true);
    expect(await lab.isOnInterface(address)).toBe(true);
    expect(await lab.stateOf(address)).toMatchObject({ state: 'held' });
    // Nor does it stop when the Service is deleted after that.
    await lab.cluster.client.delete(services, named('changed'));
    await lab.gone('changed');
    await lab.cluster.client.delete(services, named('later'));
    await lab.restOf(later);
    await lab.onInterface(later, false);
    expect(await lab.isOnInterface(address)).toBe(true);
    expect(await lab.stateOf(address)).toMatchObject({ state: 'held' });
  });
});
