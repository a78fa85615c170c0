/** What the system runs on: the embedded cluster and cloud, or the real services. */
export type Ground = 'embedded' | 'real';

/**
 * What a fault can break:
 * - `control`: changes take longer; existing Services stay served
 * - `traffic`: connections may fail until the other gateway has taken over
 */
export type Touched = 'control' | 'traffic';

export interface FaultKind {
  readonly name: FaultName;
  /** Components that it can affect. */
  readonly on: readonly string[];
  /** Shortest and longest duration. Zero: it happens at one moment. */
  readonly seconds: readonly [number, number];
  readonly touches: Touched;
}

export type FaultName =
  | 'killed'
  | 'paused'
  | 'stopped'
  | 'clock moved'
  | 'cut'
  | 'refused'
  | 'stalled'
  | 'delayed'
  | 'duplicated'
  | 'disk full'
  | 'restarted'
  | 'history gone'
  | 'tokens revoked'
  | 'suspended'
  | 'member killed'
  | 'compacted'
  | 'keepalived killed'
  | 'link down'
  | 'hung'
  | 'power cut';

const gateways = ['g1', 'g2'];
const controllers = ['controller-1', 'controller-2'];
const moment = [0, 0] as const;

/** All kinds of faults. A lease lasts 15 s: pauses are shorter and longer than that. */
export function faultKindsOn(ground: Ground): readonly FaultKind[] {
  const isReal = ground === 'real';
  const ledgers = isReal ? ['ipam-1', 'ipam-2'] : ['ipam-1'];
  const others = ['discovery', 'proxy', 'proxy'];
  const processes = [...controllers, ...controllers, ...gateways, ...ledgers, ...others];
  const plainWays = [
    ...controllers.flatMap((from) => [`${from} to openstack`, `${from} to ipam`]),
    'discovery to openstack',
  ];
  const ways = [
    ...plainWays,
    ...controllers.flatMap((from) => ['kubernetes', ...gateways].map((to) => `${from} to ${to}`)),
    'discovery to kubernetes',
    'proxy to kubernetes',
  ];
  const control = (
    name: FaultName,
    on: readonly string[],
    seconds: readonly [number, number],
  ): FaultKind => ({ name, on, seconds, touches: 'control' });
  const traffic = (...[name, on, seconds]: Parameters<typeof control>): FaultKind => ({
    ...control(name, on, seconds),
    touches: 'traffic',
  });
  return [
    control('killed', processes, moment),
    control('paused', processes, [3, 25]),
    control('stopped', processes, [2, 15]),
    control('clock moved', processes, [5, 20]),
    control('cut', ways, moment),
    control('refused', ways, [2, 20]),
    control('stalled', ways, [2, 20]),
    control('delayed', ways, [5, 20]),
    control('duplicated', plainWays, [5, 20]),
    control('disk full', isReal ? gateways : [...gateways, 'ipam-1'], [5, 20]),
    control('restarted', ['kubernetes'], moment),
    control('history gone', ['kubernetes'], moment),
    control('tokens revoked', ['openstack'], moment),
    control('suspended', ['openstack'], [2, 15]),
    ...(isReal
      ? [
          control('member killed', ['etcd-0', 'etcd-1', 'etcd-2'], [2, 15]),
          control('compacted', ['etcd'], moment),
        ]
      : []),
    traffic('keepalived killed', gateways, moment),
    traffic(
      'link down',
      gateways.flatMap((name) => [`${name} external`, `${name} internal`]),
      [3, 15],
    ),
    traffic('hung', gateways, [5, 35]),
    traffic('power cut', gateways, [3, 15]),
  ];
}
