import { Command, Option } from 'commander';
import type { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import type { TraceQuestion } from '../../gateway/protocol/trace.ts';
import { familyOf, parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, parseProtocol, protocols, type Port } from '@causeway/base/address/port';
import { hasIdledAt } from '../../idling/annotations.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import { readRecord } from '../../services/record.ts';
import { findOwner } from '../../console/overview/find-owner.ts';
import { pathEndpoints } from '../../console/overview/service-path.ts';
import { answerFacts, noAnswerFacts } from '../../console/overview/gateway-source.ts';
import { gatewayPath } from '../../health/gateway-health.ts';
import { isProblem } from '../../health/state.ts';
import { systemClock } from '@causeway/base/time/clock';
import {
  describeOwner,
  describeTraces,
  judgeTraces,
  type GatewayTrace,
} from '../../console/overview/trace-text.ts';
import { traceOnNode, type NodeTrace } from '../../node-proxy/trace-on-node.ts';
import { withCluster } from '../cluster/cluster-connection.ts';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { makeAgents } from '../controller/gateway.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { gatewayFlags } from '../controller/query-options.ts';
import { exitCodes } from '../terminal/exit-code.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';

interface TraceOptions {
  readonly protocol: string;
  readonly clientPort: string;
  readonly output: OutputFormat;
}

/** `causeway trace CLIENT ADDRESS:PORT`: how a connection is handled, by which rules, and why. */
export function traceCommand(): Command {
  const command = new Command('trace')
    .description(
      'show how a connection is handled: by which rules, to which endpoint, and why; exit code 1 if something is wrong',
    )
    .argument('<client>', "the client's address")
    .argument('<target>', 'ADDRESS:PORT that it connects to, or [ADDRESS]:PORT')
    .addOption(
      new Option('--protocol <name>', 'protocol of the connection')
        .choices(protocols)
        .default('TCP'),
    )
    .option('--client-port <number>', "the client's port", '40000');
  addOutputOption(
    addQueryOptions(command, controllerCommandSettings, [...gatewayFlags, '--gateway-enabled']),
  );
  return command.action(async (client: string, text: string, options: TraceOptions) => {
    const question = {
      client: parseAddress(client),
      clientPort: parsePort(Number(options.clientPort)),
      protocol: parseProtocol(options.protocol),
      ...parseTarget(text),
    };
    if (familyOf(question.client) !== familyOf(question.address)) {
      throw new CausewayError('invalid', `${client} can't connect to ${text}`, {
        hint: 'One is an IPv4 address and the other an IPv6 address. Name an address of the client in the same family.',
      });
    }
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
    const slices = await slicesOf(client, owner?.service, question.address, signal);
    const endpoints = pathEndpoints(slices);
    const isOutside = owner === undefined || owner.role === 'load balancer';
    const agents = isOutside && settings.gateway.enabled ? await makeAgents(settings) : new Map();
    const service = owner === undefined ? undefined : keyOf(owner.service);
    const traces = await askAll(agents, { ...question, service }, signal);
    const onNode =
      owner === undefined || isOutside
        ? undefined
        : traceOnNode(
            {
              service: owner.service,
              slices,
              nodes: await collect(client.list(nodes, { signal })),
            },
            question,
          );
    const isAnswered =
      owner?.hasPort === true &&
      (onNode === undefined || nodeOutcomes[onNode.trace.outcome].isAnswered) &&
      !(traces.length > 0 && isProblem(judgeTraces(traces), systemClock.wallTime()));
    if (!isAnswered) process.exitCode = exitCodes.failure;
    if (output === 'json' || output === 'yaml') {
      if (onNode === undefined) printObjects(output, traces, []);
      else printObjects(output, [onNode], []);
      return;
    }
    const lines = describeOwner(`${text}/${question.protocol}`, owner, endpoints);
    if (hasIdledAt(owner?.service)) lines.push('It is idle: a connection is held, and wakes it.');
    lines.push(...describeTraces(traces, endpoints));
    if (isOutside && agents.size === 0) {
      lines.push(whyNobodyWasAsked(owner?.service, settings.gateway.enabled));
    }
    if (onNode !== undefined) lines.push('', ...describeNodeTrace(onNode));
    process.stdout.write(`${lines.join('\n')}\n`);
  });
}

/** Explains why no gateway was asked, so that the short answer is not mistaken for a complete one. */
function whyNobodyWasAsked(service: Service | undefined, isGatewayEnabled: boolean): string {
  const reading = service === undefined ? undefined : readRecord(service);
  const provider = reading?.kind === 'record' ? reading.record.provider : 'gateway';
  if (provider !== 'gateway') return `The provider ${provider} serves it, not the gateways.`;
  return isGatewayEnabled
    ? 'No gateway was asked: the settings list none (gateway.agents).'
    : "No gateway was asked: name the controller's settings with --config.";
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

/** Only slices of the connection's address family. */
async function slicesOf(
  client: KubeClient,
  service: Service | undefined,
  address: Address,
  signal: AbortSignal,
): Promise<EndpointSlice[]> {
  if (service === undefined) return [];
  const { namespace = '', name = '' } = service.metadata ?? {};
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const all = await collect(client.list(endpointSlices, { namespace, labelSelector, signal }));
  const wanted = familyOf(address) === 4 ? 'IPv4' : 'IPv6';
  return all.filter(({ addressType }) => addressType === wanted);
}

const nodeOutcomes = {
  forwarded: { isAnswered: true, text: 'one may go to' },
  delivered: { isAnswered: true, text: 'a connection is not rewritten, and ends here' },
  dropped: { isAnswered: false, text: 'a connection is dropped without an answer' },
  rejected: { isAnswered: false, text: 'a connection is refused' },
} as const;

function describeNodeTrace({ node, trace }: NodeTrace): string[] {
  const { destination, destinationPort } = trace.packet;
  const host = familyOf(destination) === 6 ? `[${destination}]` : destination;
  const source = trace.masqueraded ? 'which sees the node' : 'which sees the client’s address';
  const { text } = nodeOutcomes[trace.outcome];
  const to = trace.outcome === 'forwarded' ? ` ${host}:${destinationPort ?? 0}, ${source}` : '';
  const width = Math.max(0, ...trace.steps.map(({ chain }) => chain.length));
  return [
    `On ${node}, if its proxy has the default settings: ${text}${to}.`,
    ...trace.steps.map(({ chain, rule }) => `    ${chain.padEnd(width)}  ${rule}`),
  ];
}

/** Every gateway, the active one of the address first. */
async function askAll(
  agents: ReadonlyMap<string, HttpAgentClient>,
  question: TraceQuestion,
  signal: AbortSignal,
): Promise<GatewayTrace[]> {
  const traces = await Promise.all(
    [...agents].map(async ([gateway, agent]): Promise<GatewayTrace> => {
      const family = familyOf(question.address);
      try {
        const status = await agent.status(signal);
        const answer = await agent.trace(question, signal);
        const now = systemClock.wallTime();
        return {
          gateway,
          path: gatewayPath(answerFacts(gateway, status, now), family, now),
          answer,
        };
      } catch (error) {
        signal.throwIfAborted();
        const { message } = CausewayError.from(error);
        const now = systemClock.wallTime();
        const facts = noAnswerFacts(gateway, message, now);
        return { gateway, path: gatewayPath(facts, family, now), answer: undefined };
      } finally {
        await agent.close();
      }
    }),
  );
  const rank = ({ path }: GatewayTrace) => (path.role === 'active' ? 0 : 1);
  return traces.sort((left, right) => rank(left) - rank(right));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
