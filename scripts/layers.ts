import fs from 'node:fs/promises';
import path from 'node:path';

const reasons = 'gateway/controller/reasons';
const ports = 'gateway/controller/ports';
const fleet = 'gateway/controller/fleet';
const fencing = 'gateway/controller/fencing';
const policies = 'gateway/controller/policies';
const cleanup = 'gateway/controller/cleanup';
const shared = ['services', 'gateway/protocol'];

/** The folders of the gateway controller. Dependencies have one direction: each may import earlier ones. */
const gatewayControllerLayers: Readonly<Record<string, readonly string[]>> = {
  [reasons]: ['gateway/protocol'],
  [ports]: [...shared, reasons],
  [fleet]: [...shared, reasons, ports],
  [fencing]: [...shared, reasons, ports, fleet],
  [policies]: [...shared, reasons, fleet],
  [cleanup]: [...shared, reasons, ports, fleet, fencing],
  'gateway/controller': [...shared, reasons, ports, fleet, fencing, policies, cleanup],
};

/**
 * The folders of `packages/causeway/src` that a folder may import from, beside itself. A folder that is not
 * listed may import from no other folder. Packages are bounded by `exports` and by their `dependencies`.
 */
export const folderLayers: Readonly<Record<string, readonly string[]>> = {
  services: [],
  'gateway/protocol': [],
  health: ['gateway/protocol'],
  'gateway/agent': ['gateway/protocol'],
  ...gatewayControllerLayers,
  octavia: ['services'],
  ipam: [],
  pool: ['services', 'ipam'],
  discovery: [],
  idling: ['services'],
  'node-proxy': ['services', 'idling'],
  'console/overview': ['services', 'gateway/protocol', 'gateway/controller', 'health', 'ipam'],
  'console/dashboard': ['console/overview', 'health'],
  'console/doctor': [],
  playground: ['gateway/protocol', 'ipam'],
  cli: [
    ...['services', 'gateway/protocol', 'gateway/agent', 'health', 'octavia'],
    ...Object.keys(gatewayControllerLayers),
    ...['ipam', 'pool', 'discovery', 'idling', 'node-proxy'],
    ...['console/overview', 'console/dashboard', 'console/doctor', 'playground'],
  ],
};

/**
 * Folders that get frontends and never the objects that own them. Their files import no type of a Service; the
 * Service controller builds a FrontendSpec of it.
 */
const foldersOfFrontends = ['gateway', 'octavia'];
const ownerTypes = new Set(['Service', 'ServiceSpec', 'ServicePort']);
const ownerObjects = '@causeway/kubernetes/objects/core-objects';
const namedImportPattern = /\bimport\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^'\n]+)'/g;

/** Folders of `packages/causeway/src` that only the files of the folder above may import. */
const hiddenFolders: readonly string[] = ['gateway/agent/announce/keepalived'];

const application = 'causeway';
const importPattern = /\b(?:from|import)[\s(]*'([^'\n]+)'/g;
const testPattern = /\.(test|testing)\.ts$|(^|\/)testing\//;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** One line for each import that crosses a border. Tests beside the code may reach further. */
export async function findLayerViolations(packagesRoot: string): Promise<string[]> {
  const violations: string[] = [];
  for (const name of await fs.readdir(packagesRoot)) {
    const folder = path.join(packagesRoot, name);
    const manifest = JSON.parse(
      await fs.readFile(path.join(folder, 'package.json'), 'utf8'),
    ) as Manifest;
    for await (const file of fs.glob('src/**/*.ts', { cwd: folder })) {
      const text = await fs.readFile(path.join(folder, file), 'utf8');
      const where = `packages/${name}/${file}`;
      for (const [, target = ''] of text.matchAll(importPattern)) {
        const problem = target.startsWith('.')
          ? relativeProblem(name, file, target)
          : packageProblem(manifest, target, testPattern.test(file));
        if (problem !== undefined) violations.push(`${where}: ${problem}`);
      }
      if (name !== application) continue;
      for (const type of ownerTypesIn(file, text)) {
        violations.push(`${where}: imports the type ${type}; take a FrontendSpec instead`);
      }
    }
  }
  return violations.sort();
}

function ownerTypesIn(file: string, text: string): string[] {
  const isConcerned = foldersOfFrontends.some((folder) => file.startsWith(`src/${folder}/`));
  if (!isConcerned || testPattern.test(file)) return [];
  return [...text.matchAll(namedImportPattern)]
    .filter(([, , target]) => target === ownerObjects)
    .flatMap(([, names = '']) => names.split(','))
    .map(
      (name) =>
        name
          .replace(/^\s*(?:type\s+)?/, '')
          .split(' ')[0]
          ?.trim() ?? '',
    )
    .filter((name) => ownerTypes.has(name));
}

function packageProblem(manifest: Manifest, target: string, isTest: boolean): string | undefined {
  if (!target.startsWith('@causeway/')) return undefined;
  const wanted = target.split('/').slice(0, 2).join('/');
  const declared = isTest
    ? { ...manifest.dependencies, ...manifest.devDependencies }
    : manifest.dependencies;
  if (declared?.[wanted] !== undefined) return undefined;
  return `imports ${target}, but ${manifest.name} does not depend on ${wanted}`;
}

function relativeProblem(name: string, file: string, target: string): string | undefined {
  if (testPattern.test(file)) return undefined;
  const resolved = path.join(path.dirname(file), target);
  if (!resolved.startsWith('src/')) {
    return `imports ${target}, which leaves the package: import it by its name`;
  }
  if (name !== application) return undefined;
  const hidden = hiddenFolders.find((folder) => resolved.startsWith(`src/${folder}/`));
  if (hidden !== undefined && !file.startsWith(`src/${path.dirname(hidden)}/`)) {
    return `imports ${resolved}, but only ${path.dirname(hidden)} may import ${hidden}`;
  }
  const from = layerOf(file);
  const to = layerOf(resolved);
  if (from === undefined) return 'its folder is not in the table of layers';
  if (to === from || (to !== undefined && folderLayers[from]?.includes(to))) return undefined;
  return `imports ${resolved}, but ${from} may import only ${folderLayers[from]?.join(', ') || 'itself'}`;
}

/** The first entry of the table that contains the file: inner folders are before outer ones. */
function layerOf(file: string): string | undefined {
  return Object.keys(folderLayers).find((folder) => file.startsWith(`src/${folder}/`));
}
