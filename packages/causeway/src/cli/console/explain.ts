import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { withoutControls } from '@causeway/base/text/printable';
import { systemClock } from '@causeway/base/time/clock';
import { explainService, type Explanation, type Step } from '../../console/overview/explanation.ts';
import { findSystemNamespace, readClusterFacts } from '../../console/overview/cluster-facts.ts';
import { clusterHealth } from '../../health/service-health.ts';
import { readService } from '../../console/overview/read-cluster.ts';
import {
  addClusterOptions,
  addSystemNamespaceOption,
  withCluster,
  type ClusterOptions,
} from '../cluster/cluster-connection.ts';
import { exitCodes } from '../terminal/exit-code.ts';
import { addOutputOption, formatValue, style, type OutputFormat } from '../terminal/output.ts';

interface ExplainOptions extends ClusterOptions {
  readonly systemNamespace?: string;
  readonly output: OutputFormat;
}

/** `causeway explain SERVICE`: what clients get, the whole chain with its causes, and what to do. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description(
      'show what clients of a Service get, why, and what to do; exit code 1 if there is a problem',
    )
    .argument('<service>', 'name, or namespace/name');
  addSystemNamespaceOption(command);
  addOutputOption(addClusterOptions(command));
  return command.action(async (words: string, options: ExplainOptions) => {
    await withCluster(options, async ({ client, namespace: usual, signal }) => {
      const [first = '', second] = words.split('/');
      const name = second === undefined ? first : second;
      const namespace = second === undefined ? usual : first;
      const { output } = options;
      const systemNamespace =
        options.systemNamespace ?? (await findSystemNamespace(client, signal));
      const facts = await readClusterFacts(client, systemNamespace, systemClock, signal);
      const cluster = clusterHealth(facts);
      const found = await readService(client, { namespace, name }, cluster, signal);
      if (found === undefined) {
        throw new CausewayError('not-found', `the Service ${namespace}/${name} does not exist`, {
          hint: 'Name it as namespace/name, or give --namespace.',
        });
      }
      const explanation = explainService({ ...found, cluster });
      const text =
        output === 'json' || output === 'yaml'
          ? formatValue(output, asValue(explanation))
          : asText(explanation, output === 'wide');
      process.stdout.write(text);
      if (explanation.isProblem) process.exitCode = exitCodes.failure;
    });
  });
}

/** Times as ISO 8601, like everywhere in the API. */
function asValue({ causes, ...rest }: Explanation): object {
  return {
    ...rest,
    causes: causes.map(({ since, ...cause }) => ({
      ...cause,
      since: since === undefined ? '' : new Date(since).toISOString(),
    })),
  };
}

const marks: Readonly<Record<Step['state'], string>> = {
  done: '✓',
  waiting: '…',
  failed: '✗',
  skipped: '-',
};
const colours = { done: 'green', waiting: 'yellow', failed: 'red', skipped: 'dim' } as const;

function asText(explanation: Explanation, isWide: boolean): string {
  const { summary, steps, lately, advice, causes } = explanation;
  const lines = [style('bold', withoutControls(summary)), ''];
  const width = Math.max(...steps.map(({ name }) => name.length));
  for (const { name, state, text } of steps) {
    lines.push(
      `  ${style(colours[state], marks[state])} ${name.padEnd(width)}  ${withoutControls(text)}`,
    );
  }
  if (isWide && causes.length > 0) {
    lines.push('', 'Causes:');
    for (const { code, message } of causes) lines.push(withoutControls(`  ${code}: ${message}`));
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
  return `${lines.join('\n')}\n`;
}
