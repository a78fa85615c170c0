import { z } from 'zod';

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const filter = z.object({
  protocol: z.string(),
  port: z.number().nullish(),
  'end-port': z.number().nullish(),
});
const rule = z.object({
  'ipblock-filters': list(z.object({ allow: z.string() })),
  'port-filters': list(filter),
});
const config = z.object({
  ingress: list(z.object({ address: z.string(), ports: list(z.object({ protocol: z.string() })) })),
  'network-policies': list(z.object({ name: z.string(), 'allowed-ingresses': list(rule) })),
  'policy-assignments': list(
    z.object({ address: z.string(), 'network-policies': list(z.string()) }),
  ),
});

/** The status with which ch-k8s-lbaas's agent answers a configuration, as recorded in the exchanges. */
export function originalAnswer(claim: object): 200 | 400 | 500 {
  const read = config.parse(claim);
  const policies = read['network-policies'];
  const rules = policies.flatMap((policy) => policy['allowed-ingresses']);
  const filters = rules.flatMap((each) => each['port-filters']);
  const protocols = [...read.ingress.flatMap(({ ports }) => ports), ...filters];
  const isInvalid =
    protocols.some(({ protocol }) => protocol === 'SCTP') ||
    filters.some(({ port, 'end-port': end }) => (end ?? Infinity) <= (port ?? 0));
  if (isInvalid) return 400;
  const names = new Set(policies.map(({ name }) => name));
  const isUnknown = read['policy-assignments']
    .flatMap((each) => each['network-policies'])
    .some((name) => !names.has(name));
  const isSyntaxError =
    rules.some((each) => each['ipblock-filters'].some(({ allow }) => allow.includes(':'))) ||
    policies.some(({ name }) => /^[0-9]/.test(name));
  return isUnknown || isSyntaxError ? 500 : 200;
}
