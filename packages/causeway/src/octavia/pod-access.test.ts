import { afterEach, expect, test } from 'vitest';
import { openEmbeddedLab, type CloudOptions } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const driftMs = 100;

async function begin(options: CloudOptions = {}): Promise<void> {
  ({ cloud, lab, stop } = await openEmbeddedLab(options));
}

afterEach(() => stop());

async function serve(name: string): Promise<void> {
  await lab.client.create(services, newService(name));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1', '10.10.1.2']));
}

test('creates a deleted security group rule of the members again', async () => {
  await begin();
  const call = { signal: never };
  const group = await lab.neutron.securityGroups.create({ name: 'pods' }, call);
  // Same port, but for a group: this rule does not match a load balancer.
  await lab.neutron.securityGroupRules.create(
    {
      securityGroupId: group.id,
      direction: 'ingress',
      family: 4,
      protocol: 'tcp',
      portMin: 8080,
      portMax: 8080,
      remoteGroupId: group.id,
    },
    call,
  );
  const rules = async () => {
    const { rules: all } = await lab.neutron.securityGroups.get(group.id, call);
    return all.filter(
      ({ direction, remoteGroupId }) => direction === 'ingress' && remoteGroupId === undefined,
    );
  };
  const { cidr } = await lab.neutron.subnets.get(lab.privateSubnet, call);
  await lab.start({ podSecurityGroup: group.id }, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const [rule] = await rules();
  expect(rule?.remotePrefix).toEqual(cidr);
  await lab.neutron.securityGroupRules.delete(rule?.id ?? '', call);
  await until(async () => expect(await rules()).toMatchObject([{ remotePrefix: cidr }]));
});

test('opens the members for the subnet of the load balancer, whichever it is', async () => {
  await begin();
  const call = { signal: never };
  const group = await lab.neutron.securityGroups.create({ name: 'pods' }, call);
  const elsewhere = await lab.serviceSubnet();
  await lab.start({ podSecurityGroup: group.id });
  const annotations = { 'loadbalancer.openstack.org/subnet-id': elsewhere };
  await lab.client.create(services, newService('web', {}, annotations));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await untilServed(lab, 'web');
  const { cidr } = await lab.neutron.subnets.get(elsewhere, call);
  const { rules } = await lab.neutron.securityGroups.get(group.id, call);
  expect(rules.filter(({ direction }) => direction === 'ingress')).toMatchObject([
    { remotePrefix: cidr },
  ]);
});

test('opens nothing for a load balancer whose subnet the cloud does not know', async () => {
  await begin();
  const call = { signal: never };
  const group = await lab.neutron.securityGroups.create({ name: 'pods' }, call);
  const elsewhere = await lab.serviceSubnet();
  await lab.start();
  const annotations = { 'loadbalancer.openstack.org/subnet-id': elsewhere };
  await lab.client.create(services, newService('web', {}, annotations));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await untilServed(lab, 'web');
  await lab.stop();
  cloud.neutron.subnets.delete(elsewhere);
  await lab.start({ podSecurityGroup: group.id });
  await until(() => expect(lab.events.join('\n')).toContain('Warning SecurityGroupNotOpened'));
  const { rules } = await lab.neutron.securityGroups.get(group.id, call);
  expect(rules.filter(({ direction }) => direction === 'ingress')).toEqual([]);
});
