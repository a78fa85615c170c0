import { parseAllDocuments, type Document } from 'yaml';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { findBuiltInResource } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

/**
 * The initial content of a playground: Kubernetes manifests, one in each document, and documents of the kind
 * `LoadBalancers`, with load balancers of the cloud in the form of its API.
 */
export interface Scenario {
  readonly objects: readonly Manifest[];
  readonly loadBalancers: readonly Readonly<Record<string, unknown>>[];
}

interface Manifest extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
}

const loadBalancersSchema = z.strictObject({
  kind: z.literal('LoadBalancers'),
  items: z.array(z.looseObject({ name: z.string().min(1) })),
});
const manifestSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1) }),
});

/** Throws `invalid` with the faulty document. */
export function parseScenario(text: string, file: string): Scenario {
  const objects: Manifest[] = [];
  const loadBalancers: Record<string, unknown>[] = [];
  for (const [index, document] of parseAllDocuments(text).entries()) {
    const where = `${file}, document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) throw new CausewayError('invalid', `${where}: ${error.message}`);
    const value = valueOf(document, where);
    if (value === null || value === undefined) continue;
    const isOurs = (value as { kind?: unknown }).kind === 'LoadBalancers';
    const parsed = (isOurs ? loadBalancersSchema : manifestSchema).safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new CausewayError(
        'invalid',
        `${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
        { hint: 'A document is a Kubernetes object, or has the kind LoadBalancers.' },
      );
    }
    if (isOurs) loadBalancers.push(...loadBalancersSchema.parse(value).items);
    else objects.push(value as Manifest);
  }
  for (const { apiVersion, kind } of objects) {
    if (findBuiltInResource(apiVersion, kind) !== undefined) continue;
    throw new CausewayError('invalid', `${file}: ${apiVersion} ${kind} is not known here`);
  }
  return { objects, loadBalancers };
}

function valueOf(document: Document.Parsed, where: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    throw new CausewayError('invalid', `${where}: its aliases expand to too much data`, { cause });
  }
}

/** Creates all objects of the scenario. */
export async function applyScenario(
  { objects, loadBalancers }: Scenario,
  stage: {
    readonly kubeconfig: string;
    readonly cloud: EmbeddedOpenStack;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, cloud, clock } = stage;
  const connection = await findConnection({ kubeconfig, env: {}, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  try {
    for (const object of objects) {
      const resource = findBuiltInResource(object.apiVersion, object.kind);
      if (resource === undefined) continue;
      const namespace = object.metadata?.namespace ?? 'default';
      const metadata = resource.namespaced ? { ...object.metadata, namespace } : object.metadata;
      await client.create(resource, { ...object, metadata: metadata ?? {} }, { signal });
    }
  } finally {
    await client.close();
  }
  const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
  for (const values of loadBalancers) {
    cloud.addLoadBalancer(subnet?.project_id ?? '', { vip_subnet_id: subnet?.id, ...values });
  }
}
