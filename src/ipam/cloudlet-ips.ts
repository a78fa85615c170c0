import { z } from 'zod';
import { CausewayError } from '../domain/error.ts';
import type { AnswerOf, OperationName, RequestOf } from './api/operations.ts';
import { addressSchema, clusterNameSchema, kubernetesNameSchema, siteNameSchema } from './names.ts';
import { importedPrefix } from './reserve-pick.ts';

/**
 * EdgeXR's CloudletIPs object as we document it (docs/ipam.md): pools as comma-separated addresses and
 * ranges, and for each cluster its control plane address and those of its load balancers.
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
  if (result.success) return result.data;
  throw new CausewayError('invalid', `not a CloudletIPs object:\n${z.prettifyError(result.error)}`);
}

type Call = <Name extends OperationName>(
  name: Name,
  input: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;

/**
 * Takes the cloudlet over through the API, every address by its name, so that an address in two places
 * is found and refused. May be repeated. Answers with each cluster's credential.
 */
export async function cloudletImport(
  cloudlet: CloudletIps,
  call: Call,
): Promise<Record<string, string>> {
  const site = cloudlet.cloudlet;
  const reason = 'imported from CloudletIPs';
  await call('setSite', { params: { site }, body: { reason } });
  const split = (pool: string) => pool.split(',').map((part) => part.trim());
  const common = { addresses: split(cloudlet.ipPool), reason };
  await call('setPool', { params: { site, pool: 'cloudlet' }, body: common });
  if (cloudlet.controlPlaneIpPool !== undefined) {
    const own = { addresses: split(cloudlet.controlPlaneIpPool), reason };
    const body = { ...own, purposes: ['control-plane' as const] };
    await call('setPool', { params: { site, pool: 'cloudlet-control-plane' }, body });
  }
  const tokens: Record<string, string> = {};
  for (const [cluster, { controlPlaneIpv4, loadBalancers }] of Object.entries(cloudlet.clusters)) {
    const controlPlane =
      controlPlaneIpv4 === undefined ? undefined : { addresses: [controlPlaneIpv4] };
    const body = { cluster, imported: true, controlPlane, reason };
    tokens[cluster] = (await call('createCluster', { params: { site }, body })).token;
    for (const [index, { namespace, name, ipv4 }] of loadBalancers.entries()) {
      const owner = { uid: `${importedPrefix}${index}`, namespace, name };
      await call('reserve', {
        params: { site, cluster },
        body: { ...owner, addresses: [ipv4], reason },
      });
    }
  }
  return tokens;
}
