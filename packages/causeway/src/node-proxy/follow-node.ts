import os from 'node:os';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { formatPrefix } from '@causeway/base/address/prefix';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import { nodeContext, podNetworks } from './node-context.ts';
import type { ProxyStore } from './proxy-store.ts';
import type { ProxySettings } from './settings.ts';

export interface FollowNodeOptions {
  readonly store: ProxyStore;
  readonly settings: ProxySettings;
  readonly clock: Clock;
  readonly log: Log;
}

const nodeWaitMs = 5_000;

/** Existing rules stay unchanged until the Node is known. */
export async function waitForNode(options: FollowNodeOptions, signal: AbortSignal): Promise<void> {
  const { store, settings, clock, log } = options;
  const needsNetworks = settings.insiders.by === 'node-networks';
  await whenSynced([store.nodes], signal);
  const node = () => store.nodes.get(settings.nodeName);
  const isThere = () => node() !== undefined && (!needsNetworks || podNetworks(node()).length > 0);
  while (!isThere()) {
    const what = node() === undefined ? 'the Node does not exist' : 'the Node has no podCIDRs';
    log.warn({ node: settings.nodeName }, `${what} yet; no rules are written until then`);
    await sleep(clock, nodeWaitMs, signal);
  }
  store.node = nodeContext(settings, node(), interfaceAddresses());
}

/** The Node's labels and addresses may change; its pod networks are part of every rule. */
export async function followNode(options: FollowNodeOptions, signal: AbortSignal): Promise<void> {
  const { store, settings, clock, log } = options;
  const node = () => store.nodes.get(settings.nodeName);
  const networks = () => podNetworks(node()).map(formatPrefix).join(', ');
  const networksAtStart = networks();
  const moved = Promise.withResolvers<never>();
  const check = () => {
    if (node() === undefined) return;
    if (settings.insiders.by === 'node-networks' && networks() !== networksAtStart) {
      const message = `the Node's pod networks are ${networks()} now and were ${networksAtStart}`;
      moved.reject(new CausewayError('conflict', message, { hint: 'Restart the proxy.' }));
      return;
    }
    const next = nodeContext(settings, node(), interfaceAddresses());
    if (JSON.stringify(next) === JSON.stringify(store.node)) return;
    log.info({ node: next }, 'the node has changed');
    store.node = next;
  };
  const stop = store.nodes.onChange(check);
  const checkPeriodically = async () => {
    // Interfaces change without an event.
    while (!signal.aborted) {
      await sleep(clock, Math.max(settings.sync.maxSeconds, 1) * 1000, signal);
      check();
    }
  };
  await Promise.race([moved.promise, checkPeriodically()]).finally(stop);
}

/** Addresses of this machine that other machines can reach. */
function interfaceAddresses(): Address[] {
  return Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
    .map(({ address }) => tryParseAddress(address))
    .filter((address) => address !== undefined);
}
