import { z } from 'zod';
import type { Family } from '@causeway/base/address/address';
import { parsePort, parseProtocol } from '@causeway/base/address/port';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import type { Annotations } from '../../services/provider.ts';
import type { BackendLayer } from './backends.ts';
import { fromLegacyPorts } from './legacy.ts';
import type { L4Port } from '../../services/l4-port.ts';

/** What users write. All start with `causeway.dev/`. */
export const keepFloatingIpAnnotation = 'causeway.dev/keep-floating-ip';

/** What we write: which L2 port serves the Service in each family. */
export const portsAnnotation = 'causeway.dev/gateway-ports';

/** What ch-k8s-lbaas reads and writes; read always, written while the way back is to stay open. */
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
 * The ports that the Service has by its annotations. One that can't be read counts as none: the
 * Service is then placed anew, as the design asks for conflicts.
 */
export function readPortIds(service: Service): PortIds {
  const annotations = service.metadata?.annotations ?? {};
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

/** What was written down with the ports: what the Service holds there, and in which sharing group it was placed. */
export interface WrittenPlace {
  readonly held: readonly L4Port[] | undefined;
  readonly sharingGroup: string | undefined;
}

/** Both are unknown for Services that come from ch-k8s-lbaas. */
export function readPlace(service: Service): WrittenPlace {
  const text = service.metadata?.annotations?.[portsAnnotation];
  const { held, sharingGroup } = (text === undefined ? undefined : parsePorts(text)) ?? {};
  return { held: held === undefined ? undefined : parseHeld(held), sharingGroup };
}

/** Unknown as a whole where one part can't be read: half of it would free what is held. */
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

/** The annotations that say which ports a Service has, and what it holds on them; an empty map removes them. */
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
    // While the way back is closed, a port that has changed since would be a false lead.
    [legacyPortAnnotation]: keepWayBack ? (ipv4 ?? null) : null,
    // A user's "false" opts out, and must never be taken away; then there are no ports.
    ...(keepWayBack && ids.size > 0 ? { [legacyManagedAnnotation]: 'true' } : {}),
  };
}

/** Tells the nodes' proxies what the gateways lead to, while they lead there. */
export function layerAnnotations(ids: PortIds, layer: BackendLayer): Annotations {
  return { [gatewayLayerAnnotation]: ids.size > 0 && layer === 'Pod' ? layer : null };
}

/** Whether the Service says so already. */
export function saysLayer(service: Service, layer: BackendLayer): boolean {
  const said = service.metadata?.annotations?.[gatewayLayerAnnotation];
  return said === (layer === 'Pod' ? layer : undefined);
}
