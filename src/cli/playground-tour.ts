import type { ReadyFile } from '../playground/ready-file.ts';
import { style } from './output.ts';

const command = (text: string) => `  ${style('cyan', text)}\n`;

/** A short guided tour of a playground in which packets flow. */
export function tour(ready: ReadyFile, master: string | undefined): string {
  const inClient = (ready.client?.exec ?? []).join(' ');
  const gateway = ready.gateways?.find(({ name }) => name === master);
  const inGateway = (gateway?.exec ?? []).join(' ');
  const steps: readonly (readonly [string, readonly string[]])[] = [
    [
      'Create a Service, and reach it from the client:',
      [
        `export KUBECONFIG=${ready.kubeconfig}`,
        'kubectl create deployment web --image=example.com/web --port=8080 --replicas=2',
        'kubectl expose deployment web --type=LoadBalancer --port=80 --target-port=8080',
        "kubectl wait service web --for=jsonpath='{.status.loadBalancer.ingress[0].ip}' --timeout=60s",
        `${inClient} curl -s $(kubectl get service web -o jsonpath='{.status.loadBalancer.ingress[0].ip}')`,
      ],
    ],
    [
      `Cut the cable of the gateway that serves it, ${master ?? ''}, curl again, and mend it:`,
      [`${inGateway} ip link set ext down`, `${inGateway} ip link set ext up`],
    ],
    [
      'Put it to sleep, and wake it with a connection:',
      [
        'npx causeway idle web',
        'kubectl get deployment web   # no pod is left',
        `${inClient} curl -s $(kubectl get service web -o jsonpath='{.status.loadBalancer.ingress[0].ip}')`,
      ],
    ],
    [
      'Make a load balancer in the cloud, and find it as a Service:',
      [
        `export OS_CLIENT_CONFIG_FILE=${ready.openstack?.clouds ?? ''} OS_CLOUD=demo`,
        'openstack loadbalancer create --name shop --vip-subnet-id private-v4',
        'kubectl get services -A -l causeway.dev/backend',
      ],
    ],
  ];
  const text = steps.map(
    ([title, commands], index) => `${index + 1}. ${title}\n\n${commands.map(command).join('')}`,
  );
  return `
${style('bold', 'The Causeway playground is ready.')}

  dashboard    ${ready.dashboard?.url ?? ''}
  kubeconfig   ${ready.kubeconfig}
  OpenStack    ${ready.openstack?.clouds ?? ''}
  allocator    ${ready.ipam?.url ?? ''}

Gateways, node, pods and client are network namespaces of this machine, with real nftables and
keepalived. Pods answer with their name and the client's address, whatever their image.

${text.join('\n')}
Ctrl-C stops it and leaves nothing behind.
`;
}

/** The tour where nothing can flow. */
export function memoryTour({ kubeconfig }: ReadyFile, why: string): string {
  return `
${style('bold', 'The Causeway playground is ready.')}

  kubeconfig   ${kubeconfig}

Gateways with real packets can't run here: ${why}. The Kubernetes API works without them.
A first thing to try, in another terminal:

${[
  `export KUBECONFIG=${kubeconfig}`,
  'kubectl create deployment web --image=example.com/web --port=8080 --replicas=2',
  'kubectl expose deployment web --port=80 --target-port=8080',
  'kubectl get deployments,pods,services,endpointslices',
]
  .map(command)
  .join('')}
Pods here run in name only: they get an address and are ready at once.

Ctrl-C stops it and leaves nothing behind.
`;
}
