import { ActivityWatch, type LiveConnections } from '../../node-proxy/activity/activity-watch.ts';
import { EgressFilter } from '../../node-proxy/egress-firewall/egress-filter.ts';
import { resolveName } from '../../node-proxy/egress-firewall/resolve-name.ts';
import { IdleServices } from '../../node-proxy/holder/idle-services.ts';
import { matchesInterface } from '../../node-proxy/node-context.ts';
import type { ProxyParts, WrappedProxy } from '../../node-proxy/run-proxy.ts';
import type { DivertibleProxy, ServiceProxy } from '../../node-proxy/served-service.ts';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Loop } from '@causeway/base/work/supervisor';

interface WrapParts
  extends Pick<
    ProxyParts,
    'settings' | 'client' | 'clock' | 'log' | 'metrics' | 'driver' | 'recorder'
  > {
  readonly connections: LiveConnections;
  /** The current Node object. */
  readonly node: () => Node | undefined;
  /** Whether the kernel can protect the listeners of accepted Services from other connections. */
  readonly canAccept: boolean;
}

/** The idle switch around the base proxy, the activity watch, and the egress firewall around all. */
export function wrapBase(base: DivertibleProxy, parts: WrapParts): WrappedProxy {
  const {
    settings,
    driver,
    connections,
    recorder,
    node: owner,
    canAccept,
    ...surroundings
  } = parts;
  const loops: Record<string, Loop> = {};
  let proxy: ServiceProxy = base;
  let beforeEnd = () => Promise.resolve();
  if (settings.idling.enabled) {
    const idle = new IdleServices({
      ...surroundings,
      inner: base,
      canAccept,
      settings: settings.idling,
      node: settings.nodeName,
      matchesInterface: matchesInterface(settings),
      settingsDirectory: settings.settingsDirectory,
    });
    proxy = idle.proxy;
    beforeEnd = () => idle.park();
    loops['idle Services'] = (signal) => idle.run(signal);
    const activity = new ActivityWatch({
      ...surroundings,
      driver,
      connections,
      inner: proxy,
      owner,
      node: settings.nodeName,
      namespace: settings.idling.reportNamespace,
      everyMs: settings.idling.reportSeconds * 1000,
    });
    base.onCommit((served) => activity.onCommit(served));
    proxy = activity;
    loops['activity of Services'] = (signal) => activity.run(signal);
  }
  if (settings.egressFirewall.enabled) {
    const { clusterNetworks, exemptNamespaces } = settings.egressFirewall;
    const filter = new EgressFilter({
      ...surroundings,
      recorder,
      inner: proxy,
      clusterNetworks: clusterNetworks.length > 0 ? clusterNetworks : settings.insiders.networks,
      exemptNamespaces,
      resolve: resolveName,
    });
    proxy = filter.proxy;
    loops['egress firewall'] = (signal) => filter.run(signal);
  }
  return { proxy, loops, beforeEnd };
}
