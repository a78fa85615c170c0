import { readFileSync } from 'node:fs';
import path from 'node:path';

export const lockFile = path.join(path.dirname(import.meta.dirname), 'package-lock.json');

/** An entry of package-lock.json, with the fields that the scripts use. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export function readLock(): Lock {
  return JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;
}

/**
 * The place of the package that `name` means for the package at `place`: below it, otherwise further up, like
 * Node's resolution.
 */
export function resolveInLock(lock: Lock, place: string, name: string): string | undefined {
  for (let above = place; ; above = parentPlace(above)) {
    const candidate = `${above === '' ? '' : `${above}/`}node_modules/${name}`;
    if (lock.packages[candidate] !== undefined) return candidate;
    if (above === '') return undefined;
  }
}

function parentPlace(place: string): string {
  const last = place.lastIndexOf('node_modules/');
  return last <= 0 ? '' : place.slice(0, last - 1);
}
