import { z } from 'zod';
import type { Family } from '@causeway/base/address/address';
import { parsePort, parseProtocol } from '@causeway/base/address/port';
import { textLimits } from '@causeway/base/text/text-limit';
import { gatewayLayerAnnotation, type BackendLayer } from '../../../services/backend-layer.ts';
import type { FrontendSpec } from '../../../services/frontend-spec.ts';
import type { Annotations } from '../../../services/provider.ts';
import { fromLegacyPorts } from './legacy.ts';
import type { L4Port } from '../../../services/l4-port.ts';

/** Annotations of users. All start with `causeway.dev/`. */
export const keepFloatingIpAnnotation = 'causeway.dev/keep-floating-ip';
/** `true`: the Service moves away from an address that is retiring or in no list. */
export const releaseAddressAnnotation = 'causeway.dev/release-address';

/** Written by Causeway: the L2 port of the Service in each family. */
export const portsAnnotation = 'causeway.dev/gateway-ports';

/** Annotations of ch-k8s-lbaas. Always read; written only with `keepWayBack`. */
export const legacyManagedAnnotation = 'cah-loadbalancer.k8s.cloudandheat.com/managed';
export const legacyPortAnnotation = 'cah-loadbalancer.k8s.cloudandheat.com/inbound-port';

export type PortIds = ReadonlyMap<Family, string>;

const portsVersion = 1;
const portsSchema = z.object({
  version: z.literal(portsVersion),
  ipv4: z.string().min(1).optional(),
  ipv6: z.string().min(1).optional(),
  held: z.array(z.string()).optional(),
  sharingGroup: z.string().optional(),
});

/**
 * The ports of the Service, by its annotations. An unreadable annotation counts as none: the Service is
 * placed again, as in a conflict.
 */
export function readPortIds({ annotations }: FrontendSpec): PortIds {
  const own = annotations[portsAnnotation];
  if (own !== undefined) return parsePortIds(own);
  const legacy = annotations[legacyPortAnnotation];
  return legacy === undefined || legacy === '' ? new Map() : new Map([[4, legacy]]);
}

function parsePortIds(text: string): PortIds {
  const { ipv4, ipv6 } = parsePorts(text) ?? {};
  const ids = new Map<Family, string>();
  if (ipv4 !== undefined) ids.set(4, ipv4);
  if (ipv6 !== undefined) ids.set(6, ipv6);
  return ids;
}

function parsePorts(text: string): z.output<typeof portsSchema> | undefined {
  if (text.length > textLimits.record) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return portsSchema.safeParse(fromLegacyPorts(value)).data;
}

/** The placement in the annotation: the ports that the Service holds, and its sharing group at that time. */
export interface WrittenPlace {
  readonly held: readonly L4Port[] | undefined;
  readonly sharingGroup: string | undefined;
}

/** Both are unknown for Services of ch-k8s-lbaas. */
export function readPlace({ annotations }: FrontendSpec): WrittenPlace {
  const text = annotations[portsAnnotation];
  const { held, sharingGroup } = (text === undefined ? undefined : parsePorts(text)) ?? {};
  return { held: held === undefined ? undefined : parseHeld(held), sharingGroup };
}

/** Undefined if one part is unreadable: a partial list would free ports that are in use. */
function parseHeld(held: readonly string[]): readonly L4Port[] | undefined {
  try {
    return held.map((text) => {
      const [port = '', protocol = ''] = text.split('/');
      return { protocol: parseProtocol(protocol), port: parsePort(Number(port)) };
    });
  } catch {
    return undefined;
  }
}

function formatHeld(held: readonly L4Port[]): string[] {
  return held.map(({ port, protocol }) => `${port}/${protocol}`).sort();
}

/**
 * The annotations for the ports of a Service and the L4 ports that it holds on them. An empty map removes
 * them.
 */
export function portAnnotations(
  ids: PortIds,
  { held = [], sharingGroup }: WrittenPlace,
  keepWayBack: boolean,
): Annotations {
  const [ipv4, ipv6] = [ids.get(4), ids.get(6)];
  const text =
    ids.size === 0
      ? null
      : JSON.stringify({
          version: portsVersion,
          ...(ipv4 === undefined ? {} : { ipv4 }),
          ...(ipv6 === undefined ? {} : { ipv6 }),
          held: formatHeld(held),
          ...(sharingGroup === undefined ? {} : { sharingGroup }),
        });
  return {
    [portsAnnotation]: text,
    // Without `keepWayBack`, a port that changes later would make this annotation wrong.
    [legacyPortAnnotation]: keepWayBack ? (ipv4 ?? null) : null,
    // A user's "false" opts out and must never be removed. Such a Service has no ports.
    ...(keepWayBack && ids.size > 0 ? { [legacyManagedAnnotation]: 'true' } : {}),
  };
}

/** The annotation for node proxies that names the backend layer, while the gateways serve the Service. */
export function layerAnnotations(ids: PortIds, layer: BackendLayer): Annotations {
  return { [gatewayLayerAnnotation]: ids.size > 0 && layer === 'Pod' ? layer : null };
}

/** Whether the Service already has this annotation. */
export function saysLayer({ annotations }: FrontendSpec, layer: BackendLayer): boolean {
  const said = annotations[gatewayLayerAnnotation];
  return said === (layer === 'Pod' ? layer : undefined);
}
