// The embedded Kubernetes and OpenStack in their own process. Prints their addresses, then runs the commands
// on its standard input, one per line, and answers each with a line.

import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';

const kubernetes = await startEmbeddedKubernetes();
const openstack = await startEmbeddedOpenStack({
  // Clients need a new token now and then.
  tokenLifetimeMs: 60_000,
  provisioningDelayMs: 500,
});
let resumeCloud: (() => void) | undefined;

const commands: Record<string, () => unknown> = {
  'restart kubernetes': () => kubernetes.restart(),
  'drop history': () => kubernetes.expireHistory(),
  'revoke tokens': () => openstack.keystone.tokens.revokeAll(),
  'suspend cloud': () => {
    const milliseconds = 3_000;
    const effect = { kind: 'delay', milliseconds } as const;
    resumeCloud = openstack.faults.add({ effect });
  },
  'resume cloud': () => resumeCloud?.(),
};

process.stdout.write(
  `${JSON.stringify({
    kubeconfig: kubernetes.kubeconfig,
    cloudsYaml: openstack.cloudsYaml,
    networkUrl: openstack.networkUrl,
    loadBalancerUrl: openstack.loadBalancerUrl,
  })}\n`,
);

for await (const line of createInterface({ input: process.stdin })) {
  const command = commands[line];
  if (command === undefined) throw new Error(`unknown command: ${line}`);
  await command();
  process.stdout.write('"done"\n');
}
await Promise.race([Promise.all([kubernetes.stop(), openstack.stop()]), delay(5_000)]);
process.exit(0);
