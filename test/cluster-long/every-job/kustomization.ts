import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { namespace, proxyValues } from '../../services/real-cluster/installation.ts';
import type { EverySetting } from './settings.ts';

const deploy = path.join(import.meta.dirname, '..', '..', '..', 'deploy', 'kustomize');

/** A user's overlay with Causeway's as its bases, as in docs/installation.md. Returns its directory. */
export async function writeOverlay(directory: string, settings: EverySetting): Promise<string> {
  await fs.mkdir(directory, { recursive: true });
  const ours = (...names: string[]) =>
    names.map((name) => path.relative(directory, path.join(deploy, name)));
  for (const [job, values] of Object.entries(settings)) {
    await fs.writeFile(path.join(directory, `${job}.yaml`), stringify(values));
  }
  const settingsOf = (job: keyof EverySetting, within: string) => ({
    name: `causeway-${job}-settings`,
    namespace: within,
    files: [`${job}.yaml`],
  });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: ours(
      ...['crds', 'base/namespace', 'base/reports', 'base/controller', 'base/discovery'],
      ...['base/ipam', 'base/proxy-in-place'],
    ),
    components: ours(
      ...['gateway', 'octavia', 'pool', 'idling', 'dashboard'].map((name) => `components/${name}`),
    ),
    configMapGenerator: [
      settingsOf('controller', namespace),
      settingsOf('discovery', namespace),
      settingsOf('ipam', namespace),
      settingsOf('proxy', 'causeway-node'),
    ],
    patches: [{ patch: stringify(wayToApiServer) }],
  };
  await fs.writeFile(path.join(directory, 'kustomization.yaml'), stringify(kustomization));
  return directory;
}

const wayToApiServer = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'causeway-proxy', namespace: 'causeway-node' },
  spec: { template: { spec: { containers: [{ name: 'proxy', env: proxyValues.env }] } } },
};
