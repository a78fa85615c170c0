import type { PlaygroundCloud } from '../../playground/start.ts';
import type { ReadyFile } from '../../playground/ready-file.ts';
import { style } from '../terminal/output.ts';

export interface TourStart {
  /** The gateway that is active for the addresses. */
  readonly active: string | undefined;
  readonly cloud: PlaygroundCloud;
  /** The reason why there is no traffic; undefined if there is. */
  readonly why: string | undefined;
  /** Programs that the tour uses and that are not installed. */
  readonly missing: readonly string[];
}

interface Stop {
  readonly title: string;
  readonly commands: readonly string[];
}

const command = (text: string) => `  ${style('cyan', text)}\n`;

/** A short guided tour. */
export function tour(ready: ReadyFile, start: TourStart): string {
  const stops = ready.datapath === 'kernel' ? kernelStops(ready, start.active) : memoryStops(ready);
  const text = [...stops, discovery(ready, start)].map(
    ({ title, commands }, index) => `${index + 1}. ${title}\n\n${commands.map(command).join('')}`,
  );
  return `
${style('bold', 'The Causeway playground is ready.')}

  dashboard    ${ready.dashboard.url}
  kubeconfig   ${ready.kubeconfig}
  OpenStack    ${ready.openstack.clouds}
  allocator    ${ready.ipam.url}

${start.why === undefined ? flowing : resting(start.why)}${lacking(start.missing.filter((program) => program !== 'openstack'))}

${text.join('\n')}
Ctrl-C stops it and leaves nothing behind.
`;
}

const flowing = `Gateways, nodes, pods and client are network namespaces of this machine, with real nftables and
keepalived. Pods answer with their name and the client's address, whatever their image.`;

const resting = (why: string) =>
  `Nothing flows here: ${why}.
Everything runs all the same, and keeps its rules in memory: addresses are given out, gateways and
nodes work their rules out, and pods are ready at once in name only.`;

const lacking = (missing: readonly string[]) =>
  missing.length === 0
    ? ''
    : `\n\nThe tour needs programs that are not installed here: ${missing.join(', ')}.`;

function webService({ kubeconfig }: ReadyFile): string[] {
  return [
    `export KUBECONFIG=${kubeconfig}`,
    'kubectl create deployment web --image=example.com/web --port=8080 --replicas=2',
    'kubectl expose deployment web --type=LoadBalancer --port=80 --target-port=8080',
    "kubectl wait service web --for=jsonpath='{.status.loadBalancer.ingress[0].ip}' --timeout=60s",
  ];
}

function kernelStops(ready: ReadyFile, active: string | undefined): Stop[] {
  const inGateway = ready.gateways.find(({ name }) => name === active)?.exec.join(' ') ?? '';
  const address = `$(kubectl get service web -o jsonpath='{.status.loadBalancer.ingress[0].ip}')`;
  const fromClient = `${ready.client.exec.join(' ')} curl -s`;
  const curl = `${fromClient} ${address}`;
  // Pods may become ready shortly after the address: until then connections are refused.
  const firstCurl = `${fromClient} --retry 5 --retry-connrefused ${address}`;
  return [
    {
      title: 'Create a Service, and reach it from the client:',
      commands: [...webService(ready), firstCurl],
    },
    {
      title: `Disconnect the gateway that serves it, ${active ?? ''}, curl again, and reconnect it:`,
      commands: [`${inGateway} ip link set ext down`, curl, `${inGateway} ip link set ext up`],
    },
    {
      title: 'Idle it, and wake it with a connection:',
      commands: ['npx causeway idle web', 'kubectl get deployment web   # no pod is left', curl],
    },
  ];
}

function memoryStops(ready: ReadyFile): Stop[] {
  return [
    {
      title: 'Create a Service, and see how it got its address:',
      commands: [...webService(ready), 'npx causeway explain web', 'npx causeway services'],
    },
    {
      title: 'Idle it, and wake it:',
      commands: [
        'npx causeway idle web',
        'kubectl get deployment web   # no pod is left',
        'npx causeway wake web',
      ],
    },
  ];
}

function discovery({ openstack }: ReadyFile, { cloud, missing }: TourStart): Stop {
  const create = missing.includes('openstack')
    ? createByCurl(cloud)
    : [
        `export OS_CLIENT_CONFIG_FILE=${openstack.clouds} OS_CLOUD=demo`,
        'openstack loadbalancer create --name shop --vip-subnet-id private-v4',
      ];
  return {
    title: 'Create a load balancer in the cloud, and find it as a Service:',
    commands: [...create, 'kubectl get services -A -l causeway.dev/backend   # after 5 seconds'],
  };
}

/** The request of the OpenStack client, if it is not installed. */
export function createByCurl({ authUrl, loadBalancerUrl, subnetId }: PlaygroundCloud): string[] {
  const named = { name: 'demo', domain: { id: 'default' } };
  const identity = {
    methods: ['password'],
    password: { user: { ...named, password: 'demo' } },
  };
  const auth = JSON.stringify({ auth: { identity, scope: { project: named } } });
  const balancer = JSON.stringify({ loadbalancer: { name: 'shop', vip_subnet_id: subnetId } });
  const json = `-H 'content-type: application/json'`;
  return [
    `TOKEN=$(curl -si ${authUrl}/auth/tokens ${json} -d '${auth}' | tr -d '\\r' | sed -n 's/^x-subject-token: //Ip')`,
    `curl -s ${loadBalancerUrl}/v2/lbaas/loadbalancers -H "x-auth-token: $TOKEN" ${json} -d '${balancer}'`,
  ];
}
