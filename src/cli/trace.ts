import { Command, Option } from 'commander';
import type { AgentClient } from '../agent/client/agent-client.ts';
import type { TraceQuestion } from '../agent/trace/trace-connection.ts';
import { parseAddress, type Address } from '../domain/address.ts';
import { CausewayError } from '../domain/error.ts';
import { parsePort, parseProtocol, protocols, type Port } from '../domain/port.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Service } from '../kube/core-objects.ts';
import type { EndpointSlice } from '../kube/network-objects.ts';
import { keyOf } from '../kube/object.ts';
import { endpointSlices, services } from '../kube/resources.ts';
import { findOwner } from '../overview/find-owner.ts';
import type { PathEndpoint } from '../overview/rows.ts';
import { pathEndpoints } from '../overview/service-path.ts';
import { describeOwner, describeTraces, type GatewayTrace } from '../overview/trace-text.ts';
import { withCluster } from './cluster-connection.ts';
import { addConfigOptions, readConfig } from './config-options.ts';
import { makeAgents } from './controller-gateway.ts';
import { controllerCommandSettings } from './controller-settings.ts';
import { addOutputOption, printObjects, type OutputFormat } from './output.ts';

interface TraceOptions {
  readonly protocol: string;
  readonly clientPort: string;
  readonly output: OutputFormat;
}

/** `causeway trace CLIENT ADDRESS:PORT`: what becomes of a connection, by which rules, and why. */
export function traceCommand(): Command {
  const command = new Command('trace')
    .description('what becomes of a connection: by which rules, to which endpoint, and why')
    .argument('<client>', "the client's address")
    .argument('<target>', 'ADDRESS:PORT that it connects to, or [ADDRESS]:PORT')
    .addOption(new Option('--protocol <name>', 'what it speaks').choices(protocols).default('TCP'))
    .option('--client-port <number>', "the client's port", '40000');
  addOutputOption(addConfigOptions(command, controllerCommandSettings));
  return command.action(async (client: string, text: string, options: TraceOptions) => {
    const question = {
      client: parseAddress(client),
      clientPort: parsePort(Number(options.clientPort)),
      protocol: parseProtocol(options.protocol),
      ...parseTarget(text),
    };
    await trace(command, text, question, options.output);
  });
}

async function trace(
  command: Command,
  text: string,
  question: TraceQuestion,
  output: OutputFormat,
): Promise<void> {
  const settings = await readConfig(command, controllerCommandSettings);
  await withCluster(settings, async ({ client, signal }) => {
    const owner = findOwner(await collect(client.list(services, { signal })), question);
    const endpoints = await endpointsOf(client, owner?.service, signal);
    const isOutside = owner === undefined || owner.role === 'load balancer';
    const agents = isOutside && settings.gateway.enabled ? await makeAgents(settings) : new Map();
    const service = owner === undefined ? undefined : keyOf(owner.service);
    const traces = await askAll(agents, { ...question, service }, signal);
    if (output !== 'table') {
      printObjects(output, traces, []);
      return;
    }
    const lines = describeOwner(`${text}/${question.protocol}`, owner, endpoints);
    lines.push(...describeTraces(traces, endpoints));
    process.stdout.write(`${lines.join('\n')}\n`);
  });
}

function parseTarget(text: string): { address: Address; port: Port } {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  if (port === undefined) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not ADDRESS:PORT`, {
      hint: 'Write it like 203.0.113.5:80 or [2001:db8::1]:80.',
    });
  }
  return { address: parseAddress(six ?? four ?? ''), port: parsePort(Number(port)) };
}

async function endpointsOf(
  client: KubeClient,
  service: Service | undefined,
  signal: AbortSignal,
): Promise<PathEndpoint[]> {
  if (service === undefined) return [];
  const { namespace = '', name = '' } = service.metadata ?? {};
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices = await collect<EndpointSlice>(
    client.list(endpointSlices, { namespace, labelSelector, signal }),
  );
  return pathEndpoints(slices);
}

/** Every gateway, the one that holds the address first. */
async function askAll(
  agents: ReadonlyMap<string, AgentClient>,
  question: TraceQuestion,
  signal: AbortSignal,
): Promise<GatewayTrace[]> {
  const traces = await Promise.all(
    [...agents].map(async ([gateway, agent]): Promise<GatewayTrace> => {
      try {
        const { vrrp } = await agent.status(signal);
        const answer = await agent.trace(question, signal);
        return { gateway, vrrp: vrrp.state, answer, problem: '' };
      } catch (error) {
        signal.throwIfAborted();
        const problem = CausewayError.from(error).message;
        return { gateway, vrrp: 'unknown', answer: undefined, problem };
      } finally {
        await agent.close();
      }
    }),
  );
  const rank = ({ vrrp }: GatewayTrace) => (vrrp === 'MASTER' ? 0 : 1);
  return traces.sort((left, right) => rank(left) - rank(right));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
