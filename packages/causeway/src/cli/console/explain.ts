import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { withoutControls } from '@causeway/base/text/printable';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import {
  gatewayConfigMapName,
  readGatewayConfigMap,
  whyNoneServes,
  type GatewayOutage,
} from '../../gateway/controller/gateway-config-map.ts';
import { explainService, type Explanation, type Step } from '../../console/overview/explanation.ts';
import { readService } from '../../console/overview/read-cluster.ts';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
} from '../cluster/cluster-connection.ts';
import { style } from '../terminal/output.ts';

interface ExplainOptions extends ClusterOptions {
  readonly systemNamespace: string;
}

/** `causeway explain SERVICE`: the current step of a Service, and what to do. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description('show why a Service has no address, its current step, and what to do')
    .argument('<service>', 'name, or namespace/name');
  command.option('--system-namespace <name>', "namespace of the controller's lease", 'kube-system');
  addClusterOptions(command);
  return command.action(async (text: string, options: ExplainOptions) => {
    await withCluster(options, async ({ client, namespace: usual, signal }) => {
      const [first = '', second] = text.split('/');
      const name = second === undefined ? first : second;
      const namespace = second === undefined ? usual : first;
      const found = await readService(client, { namespace, name }, signal);
      if (found === undefined) {
        throw new CausewayError('not-found', `the Service ${namespace}/${name} does not exist`, {
          hint: 'Name it as namespace/name, or give --namespace.',
        });
      }
      const isByGateways = found.row.provider === 'gateway';
      const noGateway = isByGateways
        ? await findOutage(client, options.systemNamespace, signal)
        : undefined;
      print(explainService(found.service, found.row, found.events, noGateway));
    });
  });
}

/**
 * The reason why no gateway serves clients, if so. A user without the permission to read the gateways' state
 * gets the rest.
 */
async function findOutage(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<GatewayOutage | undefined> {
  try {
    const configMap = await client.find(
      configMaps,
      { namespace, name: gatewayConfigMapName },
      { signal },
    );
    return configMap === undefined ? undefined : whyNoneServes(readGatewayConfigMap(configMap));
  } catch (error) {
    if (CausewayError.from(error).code !== 'forbidden') throw error;
    return undefined;
  }
}

const marks: Readonly<Record<Step['state'], string>> = {
  done: '✓',
  waiting: '…',
  failed: '✗',
  skipped: '-',
};
const colours = { done: 'green', waiting: 'yellow', failed: 'red', skipped: 'dim' } as const;

function print({ summary, steps, lately, advice }: Explanation): void {
  const lines = [style('bold', withoutControls(summary)), ''];
  const width = Math.max(...steps.map(({ name }) => name.length));
  for (const { name, state, text } of steps) {
    lines.push(
      `  ${style(colours[state], marks[state])} ${name.padEnd(width)}  ${withoutControls(text)}`,
    );
  }
  if (lately.length > 0) {
    lines.push('', 'Lately:');
    for (const { at, reason, message, count } of lately) {
      const times = count > 1 ? ` (${count} times)` : '';
      lines.push(withoutControls(`  ${at}  ${reason}${times}: ${message}`));
    }
  }
  if (advice.length > 0) {
    lines.push('', 'What to do:');
    for (const text of advice) lines.push(`  ${withoutControls(text)}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}
