import { z } from 'zod';
import { familyOf, parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, parseProtocol } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import {
  frontendKey,
  makeFrontend,
  type Frontend,
  type FrontendId,
  type FrontendKey,
  type Masquerade,
} from './frontend.ts';
import {
  isPolicyName,
  makeBlock,
  makePortFilter,
  policyKey,
  type Assignment,
  type IngressRule,
  type Policy,
  type PolicyKey,
  type PortFilter,
} from './policy.ts';
import { describeProblem, type Rejection } from './rejection.ts';
import type { Update } from './update.ts';

// The configuration format of ch-k8s-lbaas's controller, in the claim `load-balancer-config`. Empty lists are
// null or []. Unknown fields are ignored, as in the original agent.

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const portClaim = z.object({
  protocol: z.string(),
  'inbound-port': z.number(),
  'destination-addresses': list(z.string()),
  'destination-port': z.number(),
  policy: z.string().nullish(),
});

const policyClaim = z.object({
  name: z.string(),
  'allowed-ingresses': list(
    z.object({
      'ipblock-filters': list(z.object({ allow: z.string(), block: list(z.string()) })),
      'port-filters': list(
        z.object({
          protocol: z.string(),
          port: z.number().nullish(),
          'end-port': z.number().nullish(),
        }),
      ),
    }),
  ),
});

const configClaim = z.object({
  ingress: list(z.object({ address: z.string(), ports: list(portClaim) })),
  'network-policies': list(policyClaim),
  'policy-assignments': list(
    z.object({ address: z.string(), 'network-policies': list(z.string()) }),
  ),
});

type PolicyClaim = z.output<typeof policyClaim>;

/**
 * Parses the claim. A claim with another format throws: it is not from ch-k8s-lbaas's controller. A well-formed
 * record that can't be served is set aside with a complaint, and the others apply. Duplicates count as in the
 * original agent.
 */
export function readV1Config(claim: unknown, generation: number, masquerade: Masquerade): Update {
  const config = configClaim.parse(claim);
  const complaints: Rejection[] = [];
  const policies = readPolicies(config['network-policies'], complaints);
  const badFrontends = new Map<FrontendKey, string>();
  const frontends = readFrontends(config.ingress, masquerade, badFrontends, complaints);
  return {
    header: {
      kind: 'state',
      generation,
      base: undefined,
      meansRemoval: false,
      // The first push of the original controller after its start can be empty.
      withholdRemovals: frontends.size === 0,
      cluster: undefined,
    },
    frontends,
    policies,
    assignments: readAssignments(config['policy-assignments'], policies, complaints),
    nodes: new Map(),
    removedFrontends: new Set(),
    removedPolicies: new Set(),
    removedAssignments: new Set(),
    removedNodes: new Set(),
    badFrontends,
    unreadable: { addresses: new Set(), anywhere: false },
    badPolicies: new Set(),
    badAssignments: new Set(),
    complaints,
  };
}

function readFrontends(
  ingress: z.output<typeof configClaim>['ingress'],
  masquerade: Masquerade,
  badFrontends: Map<FrontendKey, string>,
  complaints: Rejection[],
): Map<FrontendKey, Frontend> {
  const frontends = new Map<FrontendKey, Frontend>();
  for (const { address: text, ports } of ingress) {
    const address = parseAddress(text);
    for (const port of ports) {
      const found = readPort(address, port, masquerade);
      if (found.complaint !== undefined) complaints.push(found.complaint);
      const { frontend, id } = found;
      if (id === undefined) continue;
      const key = frontendKey(id);
      if (frontend === undefined) {
        badFrontends.set(key, found.complaint?.message ?? '');
      } else if (frontends.has(key)) {
        // The original agent writes two rules, and the kernel uses the first.
        complaints.push(about(id, 'the port appears twice, and only the first record counts'));
      } else {
        frontends.set(key, frontend);
      }
    }
  }
  return frontends;
}

interface ReadPort {
  /** Missing if the record has no valid identity. */
  readonly id?: FrontendId;
  /** Missing if the record can't be served. */
  readonly frontend?: Frontend;
  readonly complaint?: Rejection;
}

function readPort(
  address: Address,
  port: z.output<typeof portClaim>,
  masquerade: Masquerade,
): ReadPort {
  const protocol = parseProtocol(port.protocol);
  const addresses = [...new Set(port['destination-addresses'].map(parseAddress))];
  if (port['inbound-port'] === 0) {
    return { complaint: about(undefined, `${address} has a port 0, which no client can use`) };
  }
  const id: FrontendId = { address, protocol, port: parsePort(port['inbound-port']) };
  if (protocol === 'SCTP') return { id, complaint: about(id, '/v1 supports only TCP and UDP') };
  if (addresses.some((each) => familyOf(each) !== familyOf(address))) {
    return { id, complaint: about(id, 'a destination is of another address family') };
  }
  // The controller sends 0 for a Service without node ports. The address is held, and connections are rejected.
  if (port['destination-port'] === 0) {
    const frontend = makeFrontend({ ...id, destinations: [], masquerade });
    return {
      id,
      frontend,
      complaint: about(id, 'the destination port is 0, so it has no backend'),
    };
  }
  const destinationPort = parsePort(port['destination-port']);
  const destinations = addresses.map((each) => ({
    address: each,
    port: destinationPort,
    weight: 1,
  }));
  return { id, frontend: makeFrontend({ ...id, destinations, masquerade }) };
}

function about(frontend: FrontendId | undefined, message: string): Rejection {
  return { frontend, record: 0, message };
}

/** Of several policies with one name, which can come from several namespaces, the original agent uses the last. */
function readPolicies(
  claims: readonly PolicyClaim[],
  complaints: Rejection[],
): Map<PolicyKey, Policy> {
  const policies = new Map<PolicyKey, Policy>();
  for (const claim of claims) {
    if (!isPolicyName(claim.name)) {
      throw new CausewayError('invalid', `${JSON.stringify(claim.name)} is not a policy's name`);
    }
    const ingress = claim['allowed-ingresses'].map(readIngressRule);
    const policy = { namespace: '', name: claim.name, ingress };
    const key = policyKey(policy);
    if (policies.has(key)) {
      const message = `several policies have the name ${claim.name}, and only the last counts`;
      complaints.push(about(undefined, message));
    }
    policies.set(key, policy);
  }
  return policies;
}

function readIngressRule(claim: PolicyClaim['allowed-ingresses'][number]): IngressRule {
  const blocks = claim['ipblock-filters'];
  const filters = claim['port-filters'];
  return {
    from:
      blocks.length === 0
        ? undefined
        : blocks.map(({ allow, block }) => makeBlock(looseCidr(allow), block.map(looseCidr))),
    ports: filters.length === 0 ? undefined : filters.flatMap(readPortFilter),
  };
}

/**
 * A named port arrives as port 0, which no packet has. The filter then allows nothing, and the other filters
 * apply.
 */
function readPortFilter(claim: {
  protocol: string;
  port?: number | null | undefined;
  'end-port'?: number | null | undefined;
}): PortFilter[] {
  const protocol = parseProtocol(claim.protocol);
  if (claim.port === 0) return [];
  const port = claim.port ?? undefined;
  const endPort = claim['end-port'] ?? undefined;
  return [
    makePortFilter(
      protocol,
      port === undefined ? undefined : parsePort(port),
      endPort === undefined ? undefined : parsePort(endPort),
    ),
  ];
}

/**
 * Of several records of one pod, the original agent uses the first. An unknown policy allows nothing, and the
 * pod stays restricted.
 */
function readAssignments(
  claims: z.output<typeof configClaim>['policy-assignments'],
  policies: ReadonlyMap<PolicyKey, Policy>,
  complaints: Rejection[],
): Map<Address, Assignment> {
  const assignments = new Map<Address, Assignment>();
  for (const claim of claims) {
    const address = parseAddress(claim.address);
    const names = new Set(claim['network-policies']);
    if (names.size === 0) continue;
    if (assignments.has(address)) {
      const message = `the pod ${address} is assigned twice, and only the first record counts`;
      complaints.push(about(undefined, message));
      continue;
    }
    const keys: PolicyKey[] = [];
    for (const name of names) {
      const key = policyKey({ namespace: '', name });
      if (policies.has(key)) keys.push(key);
      else complaints.push(about(undefined, unknownPolicy(address, name)));
    }
    assignments.set(address, { address, policies: keys.sort(), namedPorts: [] });
  }
  return assignments;
}

function unknownPolicy(address: Address, name: string): string {
  return describeProblem(
    new Error(`the policy ${JSON.stringify(name)} of the pod ${address} is not in the request`),
  );
}

/** Kubernetes accepts host bits in a CIDR; they are ignored. */
function looseCidr(text: string): Prefix {
  const { address, length } = parseInterface(text);
  return prefixOf(address, length);
}
