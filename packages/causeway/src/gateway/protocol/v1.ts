import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, parseProtocol, type Protocol } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import {
  frontendKey,
  makeFrontend,
  type Frontend,
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
 * Parses the claim. Throws at the first error, because `/v1` applies a configuration completely or not at
 * all.
 */
export function readV1Config(claim: unknown, generation: number, masquerade: Masquerade): Update {
  const config = configClaim.parse(claim);
  const policies = readPolicies(config['network-policies']);
  return {
    header: {
      kind: 'state',
      generation,
      base: undefined,
      meansRemoval: true,
      withholdRemovals: false,
      cluster: undefined,
    },
    frontends: readFrontends(config.ingress, masquerade),
    policies,
    assignments: readAssignments(config['policy-assignments'], policies),
    nodes: new Map(),
    removedFrontends: new Set(),
    removedPolicies: new Set(),
    removedAssignments: new Set(),
    removedNodes: new Set(),
    badFrontends: new Map(),
    unreadable: { addresses: new Set(), anywhere: false },
    badPolicies: new Set(),
    badAssignments: new Set(),
    complaints: [],
  };
}

function readFrontends(
  ingress: z.output<typeof configClaim>['ingress'],
  masquerade: Masquerade,
): Map<FrontendKey, Frontend> {
  const frontends = new Map<FrontendKey, Frontend>();
  for (const { address: text, ports } of ingress) {
    const address = parseAddress(text);
    for (const port of ports) {
      const destinationPort = parsePort(port['destination-port']);
      const destinations = new Set(port['destination-addresses'].map(parseAddress));
      const frontend = makeFrontend({
        address,
        protocol: parseV1Protocol(port.protocol),
        port: parsePort(port['inbound-port']),
        destinations: [...destinations].map((destination) => ({
          address: destination,
          port: destinationPort,
          weight: 1,
        })),
        masquerade,
      });
      addOnce(frontends, frontendKey(frontend), frontend);
    }
  }
  return frontends;
}

function readPolicies(claims: readonly PolicyClaim[]): Map<PolicyKey, Policy> {
  const policies = new Map<PolicyKey, Policy>();
  for (const claim of claims) {
    if (!isPolicyName(claim.name)) {
      throw new CausewayError('invalid', `${JSON.stringify(claim.name)} is not a policy's name`);
    }
    const policy = {
      namespace: '',
      name: claim.name,
      ingress: claim['allowed-ingresses'].map(readIngressRule),
    };
    addOnce(policies, policyKey(policy), policy);
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

function readAssignments(
  claims: z.output<typeof configClaim>['policy-assignments'],
  policies: ReadonlyMap<PolicyKey, Policy>,
): Map<Address, Assignment> {
  const assignments = new Map<Address, Assignment>();
  for (const claim of claims) {
    const keys = claim['network-policies'].map((name) => policyKey({ namespace: '', name }));
    const unknown = keys.find((key) => !policies.has(key));
    if (unknown !== undefined) {
      throw new CausewayError(
        'invalid',
        `${JSON.stringify(unknown.slice(1))} is not a policy of the request`,
      );
    }
    const address = parseAddress(claim.address);
    if (keys.length === 0) continue;
    addOnce(assignments, address, { address, policies: [...new Set(keys)].sort(), namedPorts: [] });
  }
  return assignments;
}

function parseV1Protocol(text: string): Protocol {
  const protocol = parseProtocol(text);
  if (protocol === 'SCTP') throw new CausewayError('invalid', '/v1 supports only TCP and UDP');
  return protocol;
}

/** Kubernetes accepts host bits in a CIDR; they are ignored. */
function looseCidr(text: string): Prefix {
  const { address, length } = parseInterface(text);
  return prefixOf(address, length);
}

function addOnce<Key extends string, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (map.has(key)) throw new CausewayError('invalid', `${key} appears more than once`);
  map.set(key, value);
}
