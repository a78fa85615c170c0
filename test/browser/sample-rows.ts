import type {
  EventRow,
  GatewayRow,
  PoolRow,
  ServiceRow,
} from '../../packages/causeway/src/console/overview/rows.ts';

/** Rows for the pages, as the sources would make them. */

export function sampleService(key: string, changes: Partial<ServiceRow> = {}): ServiceRow {
  return {
    key,
    type: 'LoadBalancer',
    provider: 'gateway',
    state: 'serving',
    reason: '',
    message: '',
    since: '',
    remedy: '',
    addresses: ['203.0.113.10'],
    ports: ['80/TCP', '443/TCP'],
    endpoints: { ready: 3, all: 3 },
    backend: '',
    idledAt: '',
    createdAt: '2026-01-01T00:00:00Z',
    ...changes,
  };
}

export const sampleServices: readonly ServiceRow[] = [
  sampleService('shop/web'),
  sampleService('shop/api', {
    state: 'not-served',
    reason: 'refused',
    message: 'Port 443/TCP of 203.0.113.10 belongs to shop/web. Choose another port or address.',
    addresses: [],
  }),
  sampleService('shop/search', {
    state: 'pending',
    reason: 'Pending',
    message: 'Waiting for gateway-b',
    addresses: [],
    endpoints: { ready: 0, all: 2 },
  }),
  sampleService('night/batch', {
    state: 'idle',
    reason: 'Idle',
    message: 'Idle; the first connection wakes it.',
    idledAt: '2026-01-01T00:00:00Z',
    endpoints: { ready: 0, all: 0 },
  }),
  sampleService('legacy/erp', {
    type: 'Headless',
    provider: '',
    state: 'internal',
    backend: 'west',
  }),
];

export function sampleGateway(key: string, changes: Partial<GatewayRow> = {}): GatewayRow {
  return {
    key,
    url: `https://${key}.example:15213`,
    reachable: true,
    canServe: true,
    message: '',
    role: 'active',
    roleReason: null,
    roleSince: '2026-01-01T00:00:00Z',
    generation: 42,
    frontends: 210,
    isDrained: false,
    isFrozen: false,
    alarms: [],
    unhealthy: [],
    connections: 1_834,
    connectionLimit: 262_144,
    version: '0.1.0',
    ...changes,
  };
}

export const sampleGateways: readonly GatewayRow[] = [
  sampleGateway('gateway-a'),
  sampleGateway('gateway-b', {
    role: 'standby',
    generation: 41,
    isDrained: true,
    unhealthy: ['10.0.0.12'],
  }),
  sampleGateway('gateway-c', {
    reachable: false,
    role: 'unknown',
    message: 'the agent gateway-c at https://gateway-c.example:15213 does not answer',
  }),
];

export const samplePools: readonly PoolRow[] = [
  {
    key: 'berlin/public',
    ranges: ['203.0.113.0/24'],
    total: 254,
    used: 170,
    quarantined: 12,
    free: 72,
    isDraining: false,
  },
  {
    key: 'berlin/scarce',
    ranges: ['198.51.100.8/29'],
    total: 6,
    used: 6,
    quarantined: 0,
    free: 0,
    isDraining: true,
  },
];

export const sampleEvents: readonly EventRow[] = [
  {
    key: 'shop/api.1',
    at: '2026-01-01T00:00:00Z',
    isWarning: true,
    reason: 'PortTaken',
    message: 'Port 443/TCP of 203.0.113.10 belongs to shop/web.',
    about: 'Service shop/api',
    count: 3,
    source: 'causeway-controller',
  },
  {
    key: 'night/batch.1',
    at: '2026-01-01T00:10:00Z',
    isWarning: false,
    reason: 'NeedPods',
    message: 'The service-port night/batch needs pods.',
    about: 'Service night/batch',
    count: 1,
    source: 'causeway-proxy',
  },
];
