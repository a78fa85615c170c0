import { resolveInLock, type Lock, type LockedPackage } from './lock-file.ts';

/** The shipped packages, by their place below `node_modules`. */
export function shippedPackages({ packages }: Lock): [string, LockedPackage][] {
  return Object.entries(packages).filter(
    ([place, { dev, link }]) => place.startsWith('node_modules/') && dev !== true && link !== true,
  );
}

/**
 * The components of the product in CycloneDX's format, from the lock file alone: the same text for the same
 * lock, so that it can be checked in and compared.
 */
export function billOfMaterials(lock: Lock): string {
  const own = lock.packages[''] ?? {};
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': 'causeway',
        name: 'causeway',
        version: own.version,
        licenses: licensesOf(own),
        purl: `pkg:npm/causeway@${own.version}`,
      },
    },
    components: shippedPackages(lock).map(([place, locked]) => component(place, locked)),
    dependencies: [
      { ref: 'causeway', dependsOn: dependenciesOf(lock, '') },
      ...shippedPackages(lock).map(([place]) => ({
        ref: place,
        dependsOn: dependenciesOf(lock, place),
      })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function component(place: string, locked: LockedPackage): object {
  const name = nameOf(place);
  const [algorithm, digest = ''] = (locked.integrity ?? '').split('-');
  return {
    type: 'library',
    'bom-ref': place,
    name,
    version: locked.version,
    scope: locked.optional === true ? 'optional' : 'required',
    hashes:
      algorithm === 'sha512'
        ? [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }]
        : [],
    licenses: licensesOf(locked),
    purl: `pkg:npm/${name.replace('@', '%40')}@${locked.version}`,
  };
}

function licensesOf({ license }: LockedPackage): object[] {
  if (license === undefined) return [];
  return [/ (?:OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }];
}

function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function dependenciesOf(lock: Lock, place: string): string[] {
  const { dependencies, optionalDependencies } = lock.packages[place] ?? {};
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  return names.flatMap((name) => resolveInLock(lock, place, name) ?? []);
}
