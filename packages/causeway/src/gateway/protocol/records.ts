import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort, parseProtocol } from '@causeway/base/address/port';
import { formatPrefix, parsePrefix } from '@causeway/base/address/prefix';
import { rangesId, type RangeList } from '@causeway/base/address/range-list';
import {
  makeFrontend,
  parseFrontendKey,
  frontendKey,
  type Destination,
  type Frontend,
  type FrontendId,
} from './frontend.ts';
import {
  isNamespace,
  isPolicyName,
  isPortName,
  makeBlock,
  makePortFilter,
  policyKey,
  type Assignment,
  type IngressRule,
  type Policy,
  type PolicyId,
} from './policy.ts';
import { revisions, sharesRanges } from './revision.ts';
import { RangesReader } from './shared-ranges.ts';

// JSON schemas of frontends, policies and assignments, on the wire and in the agent's files.

const frontendIdRecord = z.strictObject({
  address: z.string(),
  protocol: z.string(),
  port: z.number(),
});

const looseFrontendId = z.object({
  address: z.string(),
  protocol: z.string(),
  port: z.number(),
});

const destinationRecord = z.strictObject({
  address: z.string(),
  port: z.number(),
  weight: z.number().optional(),
});

const frontendRecord = frontendIdRecord.extend({
  service: z
    .string()
    .max(317)
    .regex(/^[a-z0-9.-]+\/[a-z0-9.-]+$/, 'is not namespace/name')
    .optional(),
  destinations: z.array(destinationRecord).optional(),
  nodePort: z.number().optional(),
  routedTo: z.union([z.literal('nodes'), z.array(z.string())]).optional(),
  affinity: z.enum(['none', 'client']).optional(),
  /** The ranges, or the ID of the record that has them. */
  sourceRanges: z.union([z.array(z.string()), z.string()]).optional(),
  masquerade: z.enum(['needed', 'always']).optional(),
});

const namespaceText = z
  .string()
  .refine((text) => text === '' || isNamespace(text), 'is not a namespace');
const policyNameText = z.string().refine(isPolicyName, 'is not a name');
const portNameText = z.string().refine(isPortName, 'is not a port name');
const policyIdRecord = z.strictObject({ namespace: namespaceText, name: policyNameText });

const ingressRecord = z.strictObject({
  from: z
    .array(z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }))
    .optional(),
  ports: z
    .array(
      z.strictObject({
        protocol: z.string(),
        port: z.union([z.number(), portNameText]).optional(),
        endPort: z.number().optional(),
      }),
    )
    .optional(),
});

const policyRecord = policyIdRecord.extend({ ingress: z.array(ingressRecord) });

const assignmentRecord = z.strictObject({
  address: z.string(),
  policies: z.array(policyIdRecord),
  namedPorts: z
    .array(z.strictObject({ name: portNameText, protocol: z.string(), port: z.number() }))
    .optional(),
});

type DestinationRecord = z.input<typeof destinationRecord>;
export type FrontendRecord = z.input<typeof frontendRecord>;
export type FrontendIdRecord = z.input<typeof frontendIdRecord>;
export type PolicyRecord = z.input<typeof policyRecord>;
export type AssignmentRecord = z.input<typeof assignmentRecord>;

export function parseFrontendId(value: unknown): FrontendId {
  const { address, protocol, port } = frontendIdRecord.parse(value);
  return {
    address: parseAddress(address),
    protocol: parseProtocol(protocol),
    port: parsePort(port),
  };
}

/** Parses only the identity. The other fields may have any value. */
export function frontendIdOf(value: unknown): FrontendId | undefined {
  const result = looseFrontendId.safeParse(value);
  if (!result.success) return undefined;
  try {
    return parseFrontendId(result.data);
  } catch {
    return undefined;
  }
}

/** The fields of revision 1. */
const firstFrontendRecord = frontendRecord.omit({ routedTo: true });

export function parseFrontend(
  value: unknown,
  ranges = new RangesReader(),
  revision = revisions.newest,
): Frontend {
  const record: z.output<typeof frontendRecord> =
    revision === 1 ? firstFrontendRecord.parse(value) : frontendRecord.parse(value);
  return makeFrontend({
    address: parseAddress(record.address),
    protocol: parseProtocol(record.protocol),
    port: parsePort(record.port),
    service: record.service,
    nodePort: record.nodePort === undefined ? undefined : parsePort(record.nodePort),
    routedTo: record.routedTo === 'nodes' ? 'nodes' : record.routedTo?.map(parseAddress),
    destinations: record.destinations?.map((destination) => ({
      address: parseAddress(destination.address),
      port: parsePort(destination.port),
      weight: destination.weight ?? 1,
    })),
    affinity: record.affinity,
    sourceRanges: readRanges(record.sourceRanges, ranges),
    masquerade: record.masquerade,
  });
}

function readRanges(
  written: string | readonly string[] | undefined,
  ranges: RangesReader,
): RangeList | undefined {
  return typeof written === 'string' ? ranges.find(written) : written?.map(parsePrefix);
}

export function parsePolicyId(value: unknown): PolicyId {
  return policyIdRecord.parse(value);
}

export function parsePolicy(value: unknown): Policy {
  const record = policyRecord.parse(value);
  return {
    namespace: record.namespace,
    name: record.name,
    ingress: record.ingress.map(
      (rule): IngressRule => ({
        from: rule.from?.map((block) =>
          makeBlock(parsePrefix(block.cidr), (block.except ?? []).map(parsePrefix)),
        ),
        ports: rule.ports?.map((filter) =>
          makePortFilter(
            parseProtocol(filter.protocol),
            typeof filter.port === 'number' ? parsePort(filter.port) : filter.port,
            filter.endPort === undefined ? undefined : parsePort(filter.endPort),
          ),
        ),
      }),
    ),
  };
}

export function parseAssignment(value: unknown): Assignment {
  const record = assignmentRecord.parse(value);
  return {
    address: parseAddress(record.address),
    policies: [...new Set(record.policies.map(policyKey))].sort(),
    namedPorts: (record.namedPorts ?? []).map((named) => ({
      name: named.name,
      protocol: parseProtocol(named.protocol),
      port: parsePort(named.port),
    })),
  };
}

const addressRecord = z.strictObject({ address: z.string() });

/** A record with only an address: a node, or a removal. */
export function parseAddressRecord(value: unknown): Address {
  return parseAddress(addressRecord.parse(value).address);
}

export function formatFrontendId(id: FrontendId): FrontendIdRecord {
  return { address: id.address, protocol: id.protocol, port: id.port };
}

/** Fields with default values are left out, to keep lines short. */
export function formatFrontend(frontend: Frontend, revision = revisions.newest): FrontendRecord {
  return {
    ...formatFrontendId(frontend),
    ...(frontend.service === undefined ? {} : { service: frontend.service }),
    ...formatWay(frontend, revision),
    ...(frontend.affinity === 'none' ? {} : { affinity: frontend.affinity }),
    ...(frontend.sourceRanges.length === 0
      ? {}
      : { sourceRanges: formatRanges(frontend.sourceRanges, revision) }),
    ...(frontend.masquerade === 'needed' ? {} : { masquerade: frontend.masquerade }),
  };
}

function formatRanges(ranges: RangeList, revision: number): string | string[] {
  return revision >= sharesRanges ? rangesId(ranges) : ranges.map(formatPrefix);
}

/** An agent without support for routes holds the address and rejects connections until it is upgraded. */
function formatWay(
  { destinations, nodePort, routedTo }: Frontend,
  revision: number,
): Pick<FrontendRecord, 'destinations' | 'nodePort' | 'routedTo'> {
  if (nodePort !== undefined) return { nodePort };
  if (routedTo === undefined || revision === 1) {
    return { destinations: destinations.map(formatDestination) };
  }
  return { routedTo: routedTo === 'nodes' ? routedTo : [...routedTo] };
}

function formatDestination({ address, port, weight }: Destination): DestinationRecord {
  return { address, port, ...(weight === 1 ? {} : { weight }) };
}

export function formatPolicy(policy: Policy): PolicyRecord {
  return {
    namespace: policy.namespace,
    name: policy.name,
    ingress: policy.ingress.map((rule) => ({
      ...(rule.from === undefined
        ? {}
        : {
            from: rule.from.map(({ cidr, except }) => ({
              cidr: formatPrefix(cidr),
              ...(except.length === 0 ? {} : { except: except.map(formatPrefix) }),
            })),
          }),
      ...(rule.ports === undefined
        ? {}
        : {
            ports: rule.ports.map(({ protocol, port, endPort }) => ({
              protocol,
              ...(port === undefined ? {} : { port }),
              ...(endPort === undefined ? {} : { endPort }),
            })),
          }),
    })),
  };
}

export function formatAssignment(assignment: Assignment): AssignmentRecord {
  return {
    address: assignment.address,
    policies: assignment.policies.map((key) => {
      const slash = key.indexOf('/');
      return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    }),
    ...(assignment.namedPorts.length === 0
      ? {}
      : {
          namedPorts: assignment.namedPorts.map(({ name, protocol, port }) => ({
            name,
            protocol,
            port,
          })),
        }),
  };
}

/** The canonical key from its text in the agent's files. */
export function storedFrontendKey(text: string): ReturnType<typeof frontendKey> {
  return frontendKey(parseFrontendKey(text));
}
