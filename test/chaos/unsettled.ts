import { answerKey, type Observation, type SeenService, type Wish } from './observation.ts';

/** What is not yet as the user wants it, or is left of what was. Nothing when all is well. */
export function findUnsettled(
  { services, cloud, gateways, answers }: Observation,
  wishes: ReadonlyMap<string, Wish>,
): string[] {
  const found = new Map(services.map((service) => [service.name, service]));
  return [
    ...services.filter(({ name }) => !wishes.has(name)).map(({ name }) => `${name} is still there`),
    ...[...wishes].flatMap(([name, wish]) => findUnserved(name, found.get(name), wish, answers)),
    ...findLeftInCloud(services, cloud),
    ...findLeftOnGateways(cloud, gateways),
  ];
}

function findUnserved(
  name: string,
  service: SeenService | undefined,
  wish: Wish,
  answers: Observation['answers'],
): string[] {
  if (service === undefined) return [`${name} is missing`];
  if (!service.isReady) return [`${name} is not served`];
  if (service.addresses.length !== (wish.isDualStack ? 2 : 1))
    return [`${name} has the addresses ${service.addresses.join() || 'none'}`];
  return service.addresses.flatMap((address) => {
    const key = answerKey(name, address, wish.port);
    const answer = answers.get(key);
    const expected = wish.pods.map((pod) => `${pod} ${wish.targetPort}`);
    if (answer !== undefined && expected.includes(answer)) return [];
    return [`${key}: answered by ${answer ?? 'nobody'}`];
  });
}

function findLeftInCloud(
  services: readonly SeenService[],
  { ports, floating }: Observation['cloud'],
): string[] {
  const used = new Set(services.flatMap(({ l2Ports }) => l2Ports));
  return [
    ...[...ports.keys()].filter((id) => !used.has(id)).map((id) => `port ${id} is nobody's`),
    ...[...used].filter((id) => !ports.has(id)).map((id) => `port ${id} is not in the cloud`),
    ...[...floating]
      .filter(([, port]) => port === undefined || !used.has(port))
      .map(([address]) => `floating IP ${address} is nobody's`),
  ];
}

function findLeftOnGateways(
  { ports }: Observation['cloud'],
  gateways: Observation['gateways'],
): string[] {
  const wanted = new Set([...ports.values()].flat());
  const masters = gateways.filter(({ isMaster }) => isMaster).length;
  return [
    ...(gateways.length < 2 ? ['a gateway can not be asked'] : []),
    ...(masters === 1 ? [] : [`${masters} gateways are master`]),
    ...gateways.flatMap(({ name, rules, announced }) => [
      ...difference(rules, wanted).map((address) => `${name} has rules left for ${address}`),
      ...difference(wanted, rules).map((address) => `${name} has no rules for ${address}`),
      ...difference(announced, wanted).map((address) => `${name} still announces ${address}`),
      ...difference(wanted, announced).map((address) => `${name} does not announce ${address}`),
    ]),
  ];
}

function difference(these: ReadonlySet<string>, those: ReadonlySet<string>): string[] {
  return [...these].filter((one) => !those.has(one));
}
