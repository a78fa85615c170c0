/** What a fault may be done to. Which ones there are depends on what the chaos runs on. */
export type Place = string;

/**
 * What a fault can break:
 * - `control`: changes take longer; what is served goes on being served
 * - `traffic`: connections may fail for a moment, until the other gateway has taken over
 */
export type Touched = 'control' | 'traffic';

export interface FaultKind {
  readonly name: string;
  readonly on: readonly Place[];
  /** The shortest and the longest that it lasts. Of no length: it happens at one moment. */
  readonly seconds: readonly [number, number];
  readonly touches: Touched;
}

const controllers = ['controller-1', 'controller-2'];
const gateways = ['g1', 'g2'];
const ways = (to: readonly string[]) =>
  controllers.flatMap((from) => to.map((target) => `${from} to ${target}`));
const toCluster = ways(['kubernetes']);
const toCloud = ways(['openstack']);
const toGateways = ways(gateways);
const moment = [0, 0] as const;

/** Everything that goes wrong on any cloud. A lease lasts 15 s; pauses are shorter and longer than that. */
export const faultKinds = [
  { name: 'killed', on: [...controllers, ...gateways], seconds: moment, touches: 'control' },
  { name: 'paused', on: [...controllers, ...gateways], seconds: [3, 25], touches: 'control' },
  { name: 'stopped', on: [...controllers, ...gateways], seconds: [2, 15], touches: 'control' },
  { name: 'clock moved', on: [...controllers, ...gateways], seconds: [5, 20], touches: 'control' },
  {
    name: 'cut',
    on: [...toCluster, ...toCloud, ...toGateways],
    seconds: moment,
    touches: 'control',
  },
  {
    name: 'refused',
    on: [...toCluster, ...toCloud, ...toGateways],
    seconds: [2, 20],
    touches: 'control',
  },
  {
    name: 'stalled',
    on: [...toCluster, ...toCloud, ...toGateways],
    seconds: [2, 20],
    touches: 'control',
  },
  {
    name: 'delayed',
    on: [...toCluster, ...toCloud, ...toGateways],
    seconds: [5, 20],
    touches: 'control',
  },
  { name: 'duplicated', on: toCloud, seconds: [5, 20], touches: 'control' },
  { name: 'disk full', on: gateways, seconds: [5, 20], touches: 'control' },
  { name: 'restarted', on: ['kubernetes'], seconds: moment, touches: 'control' },
  { name: 'history gone', on: ['kubernetes'], seconds: moment, touches: 'control' },
  { name: 'tokens revoked', on: ['openstack'], seconds: moment, touches: 'control' },
  { name: 'suspended', on: ['openstack'], seconds: [2, 15], touches: 'control' },
  { name: 'keepalived killed', on: gateways, seconds: moment, touches: 'traffic' },
  {
    name: 'link down',
    on: gateways.flatMap((name) => [`${name} external`, `${name} internal`]),
    seconds: [3, 15],
    touches: 'traffic',
  },
  { name: 'power cut', on: gateways, seconds: [3, 15], touches: 'traffic' },
] as const satisfies readonly FaultKind[];

export type FaultName = (typeof faultKinds)[number]['name'];
