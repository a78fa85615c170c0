import type { Ingress } from '../services/provider.ts';
import type { KlbPublicIp, KlbSpec } from './kuryr-load-balancer.ts';

/**
 * The ingress of the Service's status. With the proxy protocol or TLS, the load balancer changes the stream,
 * so pods must not bypass it.
 */
export function ingressOf(
  spec: KlbSpec,
  vip: string | undefined,
  otherVips: readonly string[],
  publicIp: KlbPublicIp | undefined,
): Ingress[] {
  if (spec.type !== 'LoadBalancer') return [];
  const { hostname, proxy_protocol, tls_container_ref } = spec.options ?? {};
  if (hostname !== undefined) return [{ hostname }];
  const first = publicIp?.ip_addr ?? vip;
  const isProxy = proxy_protocol !== undefined || tls_container_ref !== undefined;
  const ipMode = isProxy ? 'Proxy' : 'VIP';
  return [...(first === undefined || first === '' ? [] : [first]), ...otherVips].map((ip) => ({
    ip,
    ipMode,
  }));
}
