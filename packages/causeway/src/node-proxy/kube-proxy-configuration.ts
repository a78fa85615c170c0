import { tryParseAddress } from '@causeway/base/address/address';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';

type Tree = Readonly<Record<string, unknown>>;

export interface ConvertedConfiguration {
  /** In the form of `proxySettings`, not yet validated. */
  readonly settings: Record<string, unknown>;
  /** One line for each non-empty field that is not honored. */
  readonly warnings: readonly string[];
}

/** Effect of one field: settings by their path, or the reason why it has no effect. */
type Outcome =
  | { readonly set: string; readonly value: unknown }
  | readonly { readonly set: string; readonly value: unknown }[]
  | { readonly ignored: string };
type Reader = (value: unknown, whole: Tree) => Outcome | undefined;

/**
 * Converts kube-proxy's configuration file to Causeway's settings; undefined for a file of another kind.
 * Every non-empty field is honored or named in a warning.
 */
export function convertKubeProxyConfiguration(tree: Tree): ConvertedConfiguration | undefined {
  if (tree['kind'] !== 'KubeProxyConfiguration') return undefined;
  const settings: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const { path, value } of leaves(tree, [])) {
    const field = path.join('.');
    try {
      const outcome = readerOf(field)(value, tree);
      if (outcome === undefined) continue;
      if ('ignored' in outcome) warnings.push(`${field} has no effect: ${outcome.ignored}`);
      else for (const part of [outcome].flat()) assign(settings, part.set.split('.'), part.value);
    } catch (error) {
      warnings.push(`${field} has no effect: ${CausewayError.from(error).message}`);
    }
  }
  return { settings, warnings };
}

const to =
  (set: string): Reader =>
  (value) => ({ set, value });
const ignored =
  (because: string): Reader =>
  (value) =>
    isEmpty(value) ? undefined : { ignored: because };
/** Non-scalar values are shown as written; they may contain anything, even a `toString` of their own. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
const inSeconds =
  (set: string): Reader =>
  (value) => ({ set, value: parseDuration(textOf(value)) / 1000 });
/** Applies only in the section of the selected mode. */
const ofMode =
  (mode: 'iptables' | 'nftables', reader: Reader): Reader =>
  (value, whole) =>
    isEmpty(value)
      ? undefined
      : modeOf(whole) === mode
        ? reader(value, whole)
        : { ignored: `the mode is ${modeOf(whole)}` };

const noMark = ignored('no packet mark is used');
const notHere = ignored('it has no equivalent');
const localModes: Readonly<Record<string, string>> = {
  ClusterCIDR: 'cluster-networks',
  NodeCIDR: 'node-networks',
  BridgeInterface: 'bridge',
  InterfaceNamePrefix: 'interface-prefix',
};

const readers: Readonly<Record<string, Reader>> = {
  apiVersion: () => undefined,
  kind: () => undefined,
  'clientConnection.kubeconfig': (value) =>
    isEmpty(value) ? undefined : { set: 'kubeconfig', value },
  'clientConnection.acceptContentTypes': ignored('the API is used with JSON'),
  'clientConnection.contentType': ignored('the API is used with JSON'),
  'clientConnection.qps': ignored('only three resources are watched, and none is polled'),
  'clientConnection.burst': ignored('only three resources are watched, and none is polled'),
  'logging.format': (value) =>
    value === 'json' || value === 'text' ? { set: 'log.format', value } : notHere(value, {}),
  'logging.verbosity': (value) => ({
    set: 'log.level',
    value: Number(value) >= 4 ? 'debug' : 'info',
  }),
  hostnameOverride: (value) =>
    isEmpty(value) ? undefined : { set: 'nodeName', value: textOf(value).trim().toLowerCase() },
  bindAddress: (value) =>
    isWildcard(value) ? undefined : { ignored: "the Node's own addresses are used" },
  healthzBindAddress: bindTo('health'),
  metricsBindAddress: bindTo('metrics'),
  bindAddressHardFail: to('needPorts'),
  enableProfiling: notHere,
  showHiddenMetricsForVersion: notHere,
  mode: (value) =>
    isEmpty(value) || value === 'nftables'
      ? undefined
      : { ignored: 'rules are always written with nftables' },
  'iptables.masqueradeBit': noMark,
  'iptables.masqueradeAll': ofMode('iptables', to('masqueradeAll')),
  'iptables.localhostNodePorts': ignored('node ports are not served on loopback addresses'),
  'iptables.syncPeriod': ofMode('iptables', inSeconds('sync.maxSeconds')),
  'iptables.minSyncPeriod': ofMode('iptables', inSeconds('sync.minSeconds')),
  'nftables.masqueradeBit': noMark,
  'nftables.masqueradeAll': ofMode('nftables', to('masqueradeAll')),
  'nftables.syncPeriod': ofMode('nftables', inSeconds('sync.maxSeconds')),
  'nftables.minSyncPeriod': ofMode('nftables', inSeconds('sync.minSeconds')),
  detectLocalMode: (value) => {
    if (isEmpty(value)) return undefined;
    const mode = own(localModes, textOf(value));
    return mode === undefined
      ? { ignored: `${JSON.stringify(value)} is not known` }
      : { set: 'insiders.by', value: mode };
  },
  'detectLocal.bridgeInterface': interfaceFor('BridgeInterface'),
  'detectLocal.interfaceNamePrefix': interfaceFor('InterfaceNamePrefix'),
  clusterCIDR: (value) =>
    isEmpty(value)
      ? undefined
      : {
          set: 'insiders.networks',
          value: textOf(value)
            .split(',')
            .map((text) => text.trim()),
        },
  nodePortAddresses: (value) => (isEmpty(value) ? undefined : { set: 'nodePortAddresses', value }),
  oomScoreAdj: to('oomScoreAdjust'),
  'conntrack.maxPerCore': to('conntrack.maxPerCore'),
  'conntrack.min': to('conntrack.min'),
  'conntrack.tcpEstablishedTimeout': inSeconds('conntrack.tcpEstablishedSeconds'),
  'conntrack.tcpCloseWaitTimeout': inSeconds('conntrack.tcpCloseWaitSeconds'),
  'conntrack.tcpBeLiberal': to('conntrack.tcpBeLiberal'),
  'conntrack.udpTimeout': inSeconds('conntrack.udpSeconds'),
  'conntrack.udpStreamTimeout': inSeconds('conntrack.udpStreamSeconds'),
  configSyncPeriod: ignored('changes are followed as they happen'),
  portRange: ignored('no ports are taken'),
  windowsRunAsService: notHere,
};

/** Sections without any effect. */
const ignoredSections: Readonly<Record<string, Reader>> = {
  ipvs: ignored('rules are always written with nftables'),
  winkernel: notHere,
  featureGates: notHere,
  logging: notHere,
};

function readerOf(field: string): Reader {
  const section = field.split('.')[0] ?? '';
  return (
    own(readers, field) ?? own(ignoredSections, section) ?? (() => ({ ignored: 'it is not known' }))
  );
}

/** Own properties only: files may contain the word `constructor`, too. */
function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function modeOf(tree: Tree): string {
  const mode = tree['mode'];
  return isEmpty(mode) ? 'iptables' : String(mode);
}

function interfaceFor(mode: string): Reader {
  return (value, whole) => {
    if (isEmpty(value)) return undefined;
    return whole['detectLocalMode'] === mode
      ? { set: 'insiders.interface', value }
      : { ignored: `detectLocalMode is not ${mode}` };
  };
}

function bindTo(section: 'health' | 'metrics'): Reader {
  return (value) => {
    if (isEmpty(value)) return undefined;
    // The port is the default then.
    const alone = tryParseAddress(textOf(value));
    if (alone !== undefined) return { set: `${section}.address`, value: alone };
    const found = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(textOf(value));
    if (found === null) return { ignored: `${JSON.stringify(value)} is not an address and a port` };
    const address = found[1] ?? found[2] ?? '';
    const port = { set: `${section}.port`, value: Number(found[3]) };
    return address === '' ? port : [port, { set: `${section}.address`, value: address }];
  };
}

function isWildcard(value: unknown): boolean {
  return isEmpty(value) || value === '0.0.0.0' || value === '::';
}

/** The value of a field that is not set. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (
    value === null || value === undefined || ['', 0, '0', false, '0s'].includes(value as string)
  );
}

/** Fields with a value; lists are values. */
function* leaves(
  tree: Tree,
  path: readonly string[],
): Iterable<{ path: readonly string[]; value: unknown }> {
  for (const [name, value] of Object.entries(tree)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'object' && !Array.isArray(value)) {
      yield* leaves(value as Tree, [...path, name]);
    } else {
      yield { path: [...path, name], value };
    }
  }
}

function assign(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const branch = (tree[name] ?? {}) as Record<string, unknown>;
  tree[name] = branch;
  assign(branch, rest, value);
}
