import { parseAddress } from '../../packages/base/src/address/address.ts';
import { prefixContains } from '../../packages/base/src/address/prefix.ts';
import { servers } from '../kernel/gateway/topology.ts';
import { sleeperAnswer, sleeperName } from './sleeper.ts';
import {
  answerKey,
  type Observation,
  type SeenBalancer,
  type SeenService,
  type DesiredService,
  type DesiredServices,
} from './observation.ts';

/** Differences from the user's desired state, and leftovers. Empty when all is well. */
export function findUnsettled(seen: Observation, desiredServices: DesiredServices): string[] {
  const { services } = seen;
  const found = new Map(services.map((service) => [service.name, service]));
  const unwanted = services.filter(({ name }) => !desiredServices.services.has(name));
  return [
    ...unwanted.map(({ name }) => `${name} is still there`),
    ...[...desiredServices.services].flatMap(([name, desired]) =>
      findUnserved(name, found.get(name), desired, seen),
    ),
    ...findLeftInCloud(seen),
    ...findLeftOnGateways(seen),
    ...findShutOut(seen),
    ...findLeftInLedger(seen, desiredServices),
    ...findUndiscovered(seen, desiredServices),
    ...findAsleep(seen),
  ];
}

function findUnserved(
  name: string,
  service: SeenService | undefined,
  desired: DesiredService,
  seen: Observation,
): string[] {
  if (service === undefined) return [`${name} is missing`];
  if (!service.isReady) return [`${name} is not served`];
  if (service.addresses.length !== (desired.isDualStack ? 2 : 1))
    return [`${name} has the addresses ${service.addresses.join() || 'none'}`];
  if (desired.serviceClass === 'gateway') return findUnanswered(service, desired, seen);
  return desired.serviceClass === 'octavia' ? findUnbalanced(service, desired, seen) : [];
}

function findUnanswered(
  { name, addresses }: SeenService,
  desired: DesiredService,
  { answers }: Observation,
): string[] {
  return addresses.flatMap((address) => {
    const key = answerKey(name, address, desired.port);
    const answer = answers.get(key);
    const expected = desired.pods.map((pod) => `${pod} ${desired.targetPort}`);
    if (answer !== undefined && expected.includes(answer)) return [];
    return [`${key}: answered by ${answer ?? 'no backend'}`];
  });
}

/** Behind Octavia's API there is nothing to connect to, so its configuration counts. */
function findUnbalanced(
  service: SeenService,
  desired: DesiredService,
  seen: Observation,
): string[] {
  const { name, addresses } = service;
  const balancer = seen.balancers.find((each) =>
    addressesOf(each, seen).includes(addresses[0] ?? ''),
  );
  if (balancer === undefined) return [`${name} has no load balancer`];
  if (balancer.status !== 'ACTIVE') return [`the load balancer of ${name} is ${balancer.status}`];
  const wanted = desired.pods.map(
    (pod) => `${desired.port} to ${servers[pod].v4}:${desired.targetPort}`,
  );
  const ways = [...balancer.ways].sort().join();
  return ways === wanted.sort().join() ? [] : [`the load balancer of ${name} leads ${ways}`];
}

/** The VIP, and the floating IPs that lead to it. */
function addressesOf({ vip, vipPort }: SeenBalancer, { cloud }: Observation): string[] {
  const floating = [...cloud.floating].filter(([, port]) => port === vipPort);
  return [vip, ...floating.map(([address]) => address)];
}

function findLeftInCloud(seen: Observation): string[] {
  const { services, cloud, balancers } = seen;
  const { ports, floating } = cloud;
  const used = new Set(services.flatMap(({ l2Ports }) => l2Ports));
  const shown = new Set(services.flatMap(({ addresses }) => addresses));
  const vips = new Set(balancers.map(({ vipPort }) => vipPort));
  return [
    ...[...ports.keys()].filter((id) => !used.has(id)).map((id) => `port ${id} has no owner`),
    ...[...used].filter((id) => !ports.has(id)).map((id) => `port ${id} is not in the cloud`),
    ...[...floating]
      .filter(([, port]) => port === undefined || !(used.has(port) || vips.has(port)))
      .map(([address]) => `floating IP ${address} has no owner`),
    ...balancers
      .filter((balancer) => !addressesOf(balancer, seen).some((address) => shown.has(address)))
      .map(({ id }) => `load balancer ${id} has no owner`),
  ];
}

function findLeftOnGateways({ cloud, gateways }: Observation): string[] {
  const wanted = new Set([...cloud.ports.values()].flat());
  const activeCount = gateways.filter(({ isActive }) => isActive).length;
  return [
    ...(gateways.length < 2 ? ['a gateway does not answer'] : []),
    ...(activeCount === 1 ? [] : [`${activeCount} gateways are active`]),
    ...gateways.flatMap(({ name, rules, announced }) => [
      ...difference(rules, wanted).map((address) => `${name} has rules left for ${address}`),
      ...difference(wanted, rules).map((address) => `${name} has no rules for ${address}`),
      ...difference(announced, wanted).map((address) => `${name} still announces ${address}`),
      ...difference(wanted, announced).map((address) => `${name} does not announce ${address}`),
    ]),
  ];
}

/** A gateway that was fenced is unfenced when all is well. */
function findShutOut({ cloud }: Observation): string[] {
  const wanted = [...cloud.ports.values()].flat().map(parseAddress);
  return [...cloud.allowed].flatMap(([name, prefixes]) =>
    wanted
      .filter((address) => !prefixes.some((prefix) => prefixContains(prefix, address)))
      .map((address) => `${name} may not use ${address}`),
  );
}

function findLeftInLedger(
  { services, reserved, owners }: Observation,
  desiredServices: DesiredServices,
): string[] {
  const ofPool = services.filter(({ serviceClass }) => serviceClass === 'causeway.dev/pool');
  const shown = new Set(ofPool.flatMap(({ addresses }) => addresses));
  return [
    ...difference(reserved, shown).map((address) => `the ledger has ${address} without a Service`),
    ...difference(shown, reserved).map((address) => `the ledger has not reserved ${address}`),
    ...difference(owners, desiredServices.owners).map((owner) => `the ledger still has ${owner}`),
    ...difference(desiredServices.owners, owners).map(
      (owner) => `the ledger does not have ${owner}`,
    ),
  ];
}

function findUndiscovered(
  { others, discovered }: Observation,
  { balancers }: DesiredServices,
): string[] {
  const names = new Set(others.map(({ name }) => name));
  return [
    ...difference(balancers, names).map((name) => `${name} was not made`),
    ...difference(names, balancers).map((name) => `${name} was not removed`),
    ...others
      .filter(({ id }) => discovered.filter((each) => each.endsWith(id)).length !== 1)
      .map(({ name }) => `${name} is not discovered`),
    ...discovered
      .filter((each) => !others.some(({ id }) => each.endsWith(id)))
      .map((each) => `the Service ${each} belongs to a deleted load balancer`),
  ];
}

/** A client connects to it all the time, so it has to be awake. */
function findAsleep({ sleeper, answers }: Observation): string[] {
  const { isMarked, replicas } = sleeper;
  const answer = answers.get(sleeperName);
  return [
    ...(isMarked ? ['the idled Service still has its mark'] : []),
    ...(replicas === 1 ? [] : [`the idled Service has ${replicas} replicas`]),
    ...(answer === sleeperAnswer
      ? []
      : [`the idled Service is answered by ${answer ?? 'no backend'}`]),
  ];
}

function difference(these: ReadonlySet<string>, those: ReadonlySet<string>): string[] {
  return [...these].filter((one) => !those.has(one));
}
