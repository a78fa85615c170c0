import { z } from 'zod';
import type { KlbStatus } from './kuryr-load-balancer.ts';

/** The annotation in which Kuryr kept its state before it had a resource, on Endpoints or on the Service. */
export const legacySpecAnnotation = 'openstack.org/kuryr-lbaas-spec';
export const legacyStateAnnotation = 'openstack.org/kuryr-lbaas-state';

export type LegacyReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'status'; readonly status: KlbStatus }
  | { readonly kind: 'unreadable'; readonly problem: string };

const text = z.string();
const maybeText = z.string().nullish();

const balancer = z.object({
  id: text,
  name: text,
  ip: text,
  project_id: text,
  subnet_id: text,
  port_id: maybeText,
  provider: maybeText,
  security_groups: z.array(text).nullish(),
});
const listener = z.object({
  id: text,
  name: text,
  project_id: text,
  loadbalancer_id: text,
  protocol: text,
  port: z.number(),
});
const pool = z.object({
  id: text,
  name: text,
  project_id: text,
  loadbalancer_id: text,
  listener_id: maybeText,
  protocol: text,
});
const member = z.object({
  id: text,
  name: text,
  project_id: text,
  pool_id: text,
  subnet_id: maybeText,
  ip: text,
  port: z.number(),
});
const publicIp = z.object({ ip_id: text, ip_addr: text, alloc_method: z.enum(['user', 'pool']) });

const state = z.object({
  loadbalancer: balancer.nullish(),
  listeners: z.array(listener).nullish(),
  pools: z.array(pool).nullish(),
  members: z.array(member).nullish(),
  service_pub_ip_info: publicIp.nullish(),
});

/** Converts an annotation of versioned objects into a status. */
export function readLegacyState(annotation: string | undefined): LegacyReading {
  if (annotation === undefined || annotation === '') return { kind: 'none' };
  let value: unknown;
  try {
    value = unwrap(JSON.parse(annotation));
  } catch (error) {
    return { kind: 'unreadable', problem: error instanceof Error ? error.message : 'not JSON' };
  }
  const parsed = state.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { kind: 'unreadable', problem: `${issue?.path.join('.')}: ${issue?.message}` };
  }
  if (parsed.data.loadbalancer === null || parsed.data.loadbalancer === undefined) {
    return { kind: 'none' };
  }
  return { kind: 'status', status: toStatus(parsed.data) };
}

function toStatus(data: z.output<typeof state>): KlbStatus {
  const { loadbalancer, listeners, pools, members, service_pub_ip_info: address } = data;
  return {
    ...(loadbalancer === null || loadbalancer === undefined
      ? {}
      : {
          loadbalancer: {
            ...loadbalancer,
            port_id: loadbalancer.port_id ?? '',
            provider: loadbalancer.provider ?? '',
            security_groups: loadbalancer.security_groups ?? [],
          },
        }),
    listeners: listeners ?? [],
    pools: (pools ?? []).map((it) => ({ ...it, listener_id: it.listener_id ?? '' })),
    members: (members ?? []).map((it) => ({ ...it, subnet_id: it.subnet_id ?? '' })),
    ...(address === null || address === undefined ? {} : { service_pub_ip_info: address }),
  };
}

const deepest = 12;

/** Replaces every versioned object by its data, at every depth. */
function unwrap(value: unknown, depth = 0): unknown {
  if (depth > deepest) throw new Error('nested too deep');
  if (Array.isArray(value)) return value.map((item) => unwrap(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  if ('versioned_object.data' in fields) {
    const version = fields['versioned_object.version'];
    if (typeof version === 'string' && !version.startsWith('1.')) {
      throw new Error(
        `version ${version} of ${String(fields['versioned_object.name'])} is unknown`,
      );
    }
    return unwrap(fields['versioned_object.data'], depth + 1);
  }
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [key, unwrap(item, depth + 1)]),
  );
}
