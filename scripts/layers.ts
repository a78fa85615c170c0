import fs from 'node:fs/promises';
import path from 'node:path';

/**
 * Which folders of `src` a folder may import from, beside itself. Dependencies point one way:
 * domain <- runtime <- {kube, openstack, nftables, observe} <- the jobs <- cli.
 */
const foundations = ['domain', 'runtime'];
const platform = [...foundations, 'kube', 'openstack', 'nftables', 'observe', 'config'];

export const layers: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: ['domain'],
  kube: foundations,
  openstack: foundations,
  nftables: foundations,
  observe: foundations,
  config: foundations,
  sandbox: [...foundations, 'kube', 'openstack', 'observe'],
  agent: platform,
  ipam: platform,
  loadbalancer: [...platform, 'agent', 'ipam'],
  discovery: platform,
  overview: [...platform, 'agent', 'ipam', 'loadbalancer'],
  dashboard: [...platform, 'agent', 'ipam', 'loadbalancer', 'overview'],
  proxy: [...platform, 'idling'],
  idling: platform,
  doctor: platform,
  playground: [...platform, 'agent', 'ipam', 'sandbox'],
  cli: [
    ...platform,
    'sandbox',
    'agent',
    'ipam',
    'loadbalancer',
    'discovery',
    'proxy',
    'idling',
    'overview',
    'dashboard',
    'playground',
    'doctor',
  ],
};

const importPattern = /(?:from|import) ?\(?\s{0,40}'(\.[^']+)'/g;

/** One line for each import that points the wrong way. Tests beside the code may reach further. */
export async function findLayerViolations(sourceRoot: string): Promise<string[]> {
  const violations: string[] = [];
  for await (const file of fs.glob('**/*.ts', { cwd: sourceRoot })) {
    if (/\.(test|testing)\.ts$/.test(file)) continue;
    const folder = file.split(path.sep)[0] ?? '';
    const allowed = layers[folder];
    if (allowed === undefined) {
      violations.push(`src/${file}: the folder ${folder} is not in the table of layers`);
      continue;
    }
    const text = await fs.readFile(path.join(sourceRoot, file), 'utf8');
    for (const match of text.matchAll(importPattern)) {
      const target = path.join(path.dirname(file), match[1] ?? '');
      const targetFolder = target.split(path.sep)[0] ?? '';
      if (targetFolder === folder || allowed.includes(targetFolder)) continue;
      violations.push(
        `src/${file}: imports ${target}, but ${folder} may import only ${allowed.join(', ') || 'itself'}`,
      );
    }
  }
  return violations.sort();
}
