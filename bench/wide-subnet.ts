import { serviceActor } from '../packages/fake-openstack/src/actor.ts';
import type { EmbeddedOpenStack } from '../packages/fake-openstack/src/cloud.ts';
import { subnetResource } from '../packages/fake-openstack/src/neutron/subnets.ts';

/** A subnet for many floating IPs on the public network: the cloud's own ends at 250. */
export function addWideSubnet({ neutron }: EmbeddedOpenStack) {
  const [external] = neutron.networks.all().filter(({ name }) => name === 'public');
  if (external === undefined) throw new Error('the cloud has no public network');
  return subnetResource(neutron).create(
    {
      name: 'wide',
      network_id: external.id,
      ip_version: 4,
      cidr: '198.18.0.0/16',
      enable_dhcp: false,
    },
    serviceActor(external.project_id),
    external.project_id,
  );
}
