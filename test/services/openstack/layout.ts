import path from 'node:path';

/** Files and addresses of one cloud. */
export interface Layout {
  readonly directory: string;
  readonly identityUrl: string;
  readonly networkUrl: string;
  readonly loadBalancerUrl: string;
}

export interface CloudSettings {
  readonly tokenLifetimeSeconds: number;
  /** How long Neutron and Octavia cache a token; -1 checks it every time. */
  readonly tokenCacheSeconds: number;
  /** Forces pages of this size on every list. */
  readonly pageSize: number | undefined;
  readonly healthIntervalSeconds: number;
  /**
   * Keeps a defect of Octavia 11.0.0 that real clouds have: children created in the same request as their
   * load balancer stay in PENDING_CREATE although the load balancer becomes ACTIVE.
   */
  readonly populatedCreateDefect: boolean;
}

export const defaultSettings: CloudSettings = {
  tokenLifetimeSeconds: 3600,
  tokenCacheSeconds: 300,
  pageSize: undefined,
  healthIntervalSeconds: 1,
  populatedCreateDefect: false,
};

export const region = 'RegionOne';

export function file(layout: Layout, ...names: string[]): string {
  return path.join(layout.directory, ...names);
}

export function databaseSocket(layout: Layout): string {
  return file(layout, 'mysql.sock');
}

export function databaseUrl(layout: Layout, name: string): string {
  return `mysql+pymysql://root@localhost/${name}?unix_socket=${databaseSocket(layout)}&charset=utf8`;
}
