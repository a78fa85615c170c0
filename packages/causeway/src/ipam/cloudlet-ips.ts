import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { AnswerOf, OperationName, RequestOf } from './api/operations.ts';
import { poolBodySchema } from './api/schemas.ts';
import { addressSchema, clusterNameSchema, kubernetesNameSchema, siteNameSchema } from './names.ts';
import { importedPrefix } from './reserve-pick.ts';

/**
 * EdgeXR's CloudletIPs object as documented in docs/ipam.md. It has pools as comma-separated addresses and
 * ranges, and for each cluster the addresses of its control plane and load balancers.
 */
const cloudletIpsSchema = z.looseObject({
  cloudlet: siteNameSchema,
  ipPool: z.string().min(1),
  controlPlaneIpPool: z.string().min(1).optional(),
  clusters: z.record(
    clusterNameSchema,
    z.looseObject({
      controlPlaneIpv4: addressSchema.optional(),
      loadBalancers: z
        .array(
          z.looseObject({
            namespace: kubernetesNameSchema,
            name: kubernetesNameSchema,
            ipv4: addressSchema,
          }),
        )
        .default([]),
    }),
  ),
});
export type CloudletIps = z.infer<typeof cloudletIpsSchema>;

export function parseCloudletIps(text: string): CloudletIps {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CausewayError('invalid', 'the file is not JSON', { cause: error });
  }
  const result = cloudletIpsSchema.safeParse(json);
  if (result.success) {
    refuseTwice(result.data);
    return result.data;
  }
  throw new CausewayError('invalid', `not a CloudletIPs object:\n${z.prettifyError(result.error)}`);
}

/** Runs before the import: a reservation of the wrong owner would block the right one. */
function refuseTwice({ clusters }: CloudletIps): void {
  const owners = new Map<string, string>();
  for (const [cluster, { controlPlaneIpv4, loadBalancers }] of Object.entries(clusters)) {
    const named = loadBalancers.map(({ namespace, name, ipv4 }) => ({
      address: ipv4,
      owner: `${namespace}/${name} of ${cluster}`,
    }));
    if (controlPlaneIpv4 !== undefined) {
      named.push({ address: controlPlaneIpv4, owner: `the control plane of ${cluster}` });
    }
    for (const { address, owner } of named) {
      const other = owners.get(address);
      if (other !== undefined && other !== owner) {
        throw new CausewayError('invalid', `${address} is listed for both ${other} and ${owner}`, {
          hint: 'Nothing was imported. Find the actual owner, and correct the file.',
        });
      }
      owners.set(address, owner);
    }
  }
}

type Call = <Name extends OperationName>(
  name: Name,
  input: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;

/**
 * Imports the cloudlet through the API, every address by name, so that a duplicate address is found and
 * refused. The import may be repeated, also after Services have adopted the imported addresses. It does not
 * change reservations of owners with the same name, nor pool settings other than the addresses. Returns each
 * cluster's credential.
 */
export async function cloudletImport(
  cloudlet: CloudletIps,
  call: Call,
): Promise<Record<string, string>> {
  const site = cloudlet.cloudlet;
  await call('setSite', { params: { site }, body: { reason } });
  await setPool(call, site, 'cloudlet', { addresses: split(cloudlet.ipPool) });
  if (cloudlet.controlPlaneIpPool !== undefined) {
    const addresses = split(cloudlet.controlPlaneIpPool);
    const own = { addresses, purposes: ['control-plane' as const] };
    await setPool(call, site, 'cloudlet-control-plane', own);
  }
  const tokens: Record<string, string> = {};
  for (const [cluster, { controlPlaneIpv4, loadBalancers }] of Object.entries(cloudlet.clusters)) {
    const controlPlane =
      controlPlaneIpv4 === undefined ? undefined : { addresses: [controlPlaneIpv4] };
    const body = { cluster, imported: true, controlPlane, reason };
    tokens[cluster] = (await call('createCluster', { params: { site }, body })).token;
    await reserveAll(call, { site, cluster }, loadBalancers);
  }
  return tokens;
}

const reason = 'imported from CloudletIPs';
const split = (pool: string) => pool.split(',').map((part) => part.trim());

async function setPool(
  call: Call,
  site: string,
  pool: string,
  wanted: Pick<NonNullable<RequestOf<'setPool'>['body']>, 'addresses' | 'purposes'>,
): Promise<void> {
  const { items } = await call('listPools', { params: { site } });
  const present = items.find(({ name }) => name === pool);
  // Keeps the fields of the answer that the request accepts.
  const body = { ...poolBodySchema.partial().parse(present ?? {}), ...wanted, reason };
  await call('setPool', { params: { site, pool }, body });
}

/** From the name, because the position of an entry in the file may change. */
function hashOf(namespace: string, name: string): string {
  return createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 32);
}

async function reserveAll(
  call: Call,
  params: { readonly site: string; readonly cluster: string },
  loadBalancers: CloudletIps['clusters'][string]['loadBalancers'],
): Promise<void> {
  const { items } = await call('listReservations', { params });
  for (const { namespace, name, ipv4 } of loadBalancers) {
    const isHeld = items.some(
      (item) =>
        item.name === name &&
        item.namespace === namespace &&
        item.addresses.some(({ address }) => address === ipv4),
    );
    if (isHeld) continue;
    const uid = `${importedPrefix}${hashOf(namespace, name)}`;
    const body = { uid, namespace, name, addresses: [ipv4], reason };
    await call('reserve', { params, body });
  }
}
