import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLock } from './lock-file.ts';
import { billOfMaterials, shippedPackages } from './sbom.ts';

const root = path.dirname(import.meta.dirname);
const read = (name: string) => fs.readFileSync(path.join(root, name), 'utf8');
const lock = readLock();
const manifest = JSON.parse(read('package.json')) as {
  readonly files: readonly string[];
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
};

/** The workspaces, and the links to them. */
const isOwn = (place: string) =>
  !place.includes('node_modules/') || place.startsWith('node_modules/@causeway/');

describe('the bill of materials', () => {
  interface Bill {
    readonly components: readonly { name: string; version: string; hashes: unknown[] }[];
    readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
  }
  const bill = JSON.parse(read('sbom.cdx.json')) as Bill;

  test('equals the lock file, and is part of the package', () => {
    expect(read('sbom.cdx.json')).toBe(billOfMaterials(lock));
    expect(manifest.files).toContain('sbom.cdx.json');
  });

  test('has every shipped package, each with its digest', () => {
    expect(bill.components).toHaveLength(shippedPackages(lock).length);
    for (const { name, hashes } of bill.components)
      expect([name, hashes.length]).toEqual([name, 1]);
  });

  test('names only its own components, and reaches all of them', () => {
    const known = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const reach = (ref: string) => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of known.get(ref) ?? []) reach(next);
    };
    reach('causeway');
    expect([...known.keys()].filter((ref) => !reached.has(ref))).toEqual([]);
    expect([...reached].filter((ref) => !known.has(ref))).toEqual([]);
  });
});

describe('dependencies', () => {
  test('are pinned to one version, and to its contents', () => {
    const all = Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    });
    for (const [name, version] of all) {
      expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/);
      expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
    }
    // An optional tool for another platform may lack its digest: `npm run lock` adds it by version.
    const loose = Object.entries(lock.packages).filter(
      ([place, { integrity, link, dev, optional, version = '' }]) =>
        !isOwn(place) &&
        (link === true || integrity?.startsWith('sha512-') !== true) &&
        !(dev === true && optional === true && /^\d+\.\d+\.\d+$/.test(version)),
    );
    expect(loose.map(([place]) => place)).toEqual([]);
  });

  test('run no scripts when a clone installs them', () => {
    expect(read('.npmrc')).toContain('ignore-scripts=true');
    const scripts = Object.entries(lock.packages).filter(([, each]) => each.hasInstallScript);
    // The script of koffi searches for its prebuilt file, which is present without it. The script of
    // protobufjs, which comes with grpc-js and is never loaded, prints a warning about versions.
    const shipped = scripts.filter(([, { dev }]) => dev !== true).map(([place]) => place);
    expect(shipped).toEqual(['node_modules/koffi', 'node_modules/protobufjs']);
  });

  test('have licenses that may be shipped under Apache 2.0', () => {
    const fitting = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);
    const others = shippedPackages(lock).filter(([, { license }]) => !fitting.has(license ?? ''));
    expect(others.map(([place, { license }]) => `${place} ${license}`)).toEqual([]);
  });

  test('of the running product have their reason in decision 2', () => {
    const decision = read('docs/decisions/0002-runtime-dependencies.md');
    for (const name of Object.keys(manifest.dependencies))
      expect(decision).toContain(`| ${name} |`);
  });
});
