export function canInstall(version: string): boolean;
export function ensureDependencies(): Promise<void>;
interface LockedPackage {
  version?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
}
export interface LockedPackages {
  packages?: Record<string, LockedPackage>;
}
export function isInstalled(
  lock: LockedPackages,
  record: LockedPackages,
  platform?: { os: string; cpu: string; libc: string },
): boolean;
export function runNode(args: string[], options: object, from?: string): Promise<number>;
