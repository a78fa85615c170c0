import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { loadBalancer, projectId } from '../../discovery/embedded-world.ts';
import { freePort } from '../../services/free-port.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import { MigrationPage } from './migration-page.ts';
import { stubDeployment, stubNamespace } from './stub-objects.ts';
import { Terminal } from './terminal.ts';

const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));

describe.skipIf(!hasKubectl)('moving from Gimbal', () => {
  const page = new MigrationPage('gimbal');
  let kubernetes: Awaited<ReturnType<typeof startEmbeddedKubernetes>>;
  let cloud: Awaited<ReturnType<typeof startEmbeddedOpenStack>>;
  let terminal: Terminal;
  let discovery: ServiceProcess | undefined;
  /** A load balancer with a Service of the required name, and one with another name. */
  let web = '';
  let api = '';

  beforeAll(async () => {
    kubernetes = await startEmbeddedKubernetes();
    cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 0 });
    terminal = await Terminal.open({
      OS_AUTH_URL: cloud.authUrl,
      OS_USERNAME: 'demo',
      OS_PASSWORD: 'demo',
      OS_USER_DOMAIN_NAME: 'Default',
      OS_REGION_NAME: cloud.region,
    });
    await terminal.write('kubeconfig', kubernetes.kubeconfig);
    const add = (name: string, address: string) =>
      cloud.addLoadBalancer(projectId(cloud, 'demo'), loadBalancer(cloud, name, [address])).id;
    [web, api] = [add('web', '10.10.0.5'), add('api', '10.10.0.6')];
    const objects = [
      stubNamespace('demo'),
      stubNamespace('gimbal-discovery'),
      stubNamespace('causeway-system'),
      stubDeployment('gimbal-discovery', 'openstack-discoverer'),
      stubDeployment('causeway-system', 'causeway-discovery'),
      ...gimbals(`east-web-${web}`, web, '10.10.0.5'),
      ...gimbals(`east-${api}`, api, '10.10.0.6'),
    ];
    await terminal.write('before.json', { apiVersion: 'v1', kind: 'List', items: objects });
    await run('kubectl apply -f before.json');
  });
  afterAll(async () => {
    await terminal.close();
    await Promise.all([kubernetes.stop(), cloud.stop()]);
  });

  const env = () => ({ KUBECONFIG: terminal.file('kubeconfig') });
  const run = (line = '') => terminal.run(line, env());
  const list = async (what: string) =>
    (await run(`kubectl get ${what} -n demo -o name`)).split('\n').filter(Boolean).sort();
  const read = (what: string, field: string) =>
    run(`kubectl get ${what} -n demo -o jsonpath='${field}'`);
  const named = (id: string, name = '') => `service/east-${name}${id}`;

  page.step('Steps', 1, async ({ commands: [stop] }) => {
    await run(stop);
    const wanted = "kubectl -n gimbal-discovery get deployment -o jsonpath='{..spec.replicas}'";
    expect(await run(wanted)).toBe('0');
    expect(await list('services')).toEqual([named(api), named(web, 'web-')].sort());
  });

  page.step('Steps', 2, async ({ commands: [check] }) => {
    const before = await run('kubectl get services,endpoints -n demo -o json');
    const text = await run(check);
    expect(text).toContain(`services/demo/east-web-${web}`);
    expect(text).toContain(`+ services/demo/east-api-${api}`);
    expect(await run('kubectl get services,endpoints -n demo -o json')).toBe(before);
  });

  page.step('Steps', 3, async () => {
    const uid = await read(named(web, 'web-'), '{.metadata.uid}');
    const once = 'causeway discover --backend-name east --once';
    await terminal.attempt(once, env());
    const events = await run('kubectl get events -A --field-selector reason=NameTaken');
    expect(events).toContain(`east-web-${web}`);
    const port = await freePort();
    const settings = {
      backendName: 'east',
      adoptGimbal: true,
      intervalSeconds: 1,
      observe: { port },
    };
    await terminal.write('discovery.yaml', settings);
    discovery = await terminal.start('causeway discover --config discovery.yaml', port, env());
    await waitFor('the new one', async () => (await list('services')).includes(named(api, 'api-')));
    await waitFor('the old one to be ours', async () =>
      (await read(named(web, 'web-'), '{.metadata.labels}')).includes('causeway-discovery'),
    );
    expect(await read(named(web, 'web-'), '{.metadata.uid}')).toBe(uid);
    expect(await list('services')).toContain(named(api));
  });

  page.step('Steps', 4, async () => {
    const names = `{.spec.ports[*].name}`;
    expect(await read(named(web, 'web-'), names)).toBe('http-80');
    const slices = `endpointslices -l kubernetes.io/service-name=east-web-${web}`;
    expect(await read(slices, '{.items[*].ports[*].name}')).toBe('http-80');
    expect(await read(slices, '{.items[*].endpoints[*].addresses}')).toBe('["10.10.0.5"]');
  });

  page.step('Steps', 5, async ({ commands: [remove] }) => {
    await run(remove);
    expect(await list('services')).toEqual([named(api, 'api-'), named(web, 'web-')].sort());
    // Those that were adopted are slices now, and are deleted in a later cycle.
    await waitFor('the Endpoints to go', async () => (await list('endpoints')).length === 0);
  });

  page.step('The way back', 1, async ({ commands: [stop] }) => {
    await run(stop);
    await discovery?.stop();
    expect(await list('services')).toHaveLength(2);
  });

  page.step('The way back', 2, async ({ commands: [purge] }) => {
    await run(purge);
    expect(await list('services,endpointslices,endpoints')).toEqual([]);
  });

  page.step('The way back', 3, async ({ commands: [start] }) => {
    await run(start);
    const wanted = "kubectl -n gimbal-discovery get deployment -o jsonpath='{..spec.replicas}'";
    expect(await run(wanted)).toBe('1');
    // Objects that it finds when it begins to write.
    expect(await run('kubectl get services -A -l gimbal.projectcontour.io/backend')).toBe('');
  });

  page.end();
});

/** The objects that Gimbal's discoverer leaves of a load balancer. */
function gimbals(name: string, id: string, address: string) {
  const metadata = {
    namespace: 'demo',
    name,
    labels: {
      'gimbal.projectcontour.io/backend': 'east',
      'gimbal.projectcontour.io/service': id,
      'gimbal.projectcontour.io/load-balancer-id': id,
      'gimbal.projectcontour.io/load-balancer-name': '',
    },
  };
  const ports = [{ name: 'port-80', port: 80, protocol: 'TCP' }];
  const subsets = [{ addresses: [{ ip: address }], ports }];
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', ports } },
    { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets },
  ];
}
