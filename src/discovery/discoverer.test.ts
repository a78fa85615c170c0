import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../test/discovery/embedded-world.ts';

let world: World;
afterEach(() => world.stop());

const web = {
  name: 'web',
  vip_subnet_id: '',
  listeners: [
    {
      name: 'http',
      protocol: 'HTTP',
      protocol_port: 80,
      default_pool: {
        name: 'web',
        protocol: 'HTTP',
        lb_algorithm: 'ROUND_ROBIN',
        members: [
          { address: '10.10.0.5', protocol_port: 8080 },
          { address: '10.10.0.6', protocol_port: 8080, weight: 0 },
        ],
      },
    },
  ],
};

function subnetId({ cloud }: World): string {
  const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
  return subnet?.id ?? '';
}

test.each(['octavia', 'lbaas-v2'] as const)('a load balancer of %s is a Service', async (kind) => {
  world = await startWorld({ loadBalancing: kind });
  const { id } = world.cloud.addLoadBalancer(world.projectId('demo'), {
    ...web,
    vip_subnet_id: subnetId(world),
  });
  const report = await world.once();
  expect(report).toMatchObject({ projects: 2, failed: 0, loadBalancers: 1, written: 2 });
  const [service] = await world.services();
  expect(service).toMatchObject({
    metadata: { namespace: 'demo', name: `east-web-${id}` },
    spec: { clusterIP: 'None', ports: [{ name: 'http-80', port: 80, appProtocol: 'http' }] },
  });
  expect(await world.slices()).toMatchObject([
    {
      ports: [{ name: 'http-80', port: 8080, protocol: 'TCP' }],
      endpoints: [
        { addresses: ['10.10.0.5'], conditions: { ready: true } },
        { addresses: ['10.10.0.6'], conditions: { ready: false } },
      ],
    },
  ]);
  expect(await world.once()).toMatchObject({ written: 0, removed: 0 });
});
