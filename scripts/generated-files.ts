import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readLock } from './lock-file.ts';
import { helmFiles } from './deploy/helm.ts';
import { kustomizeFiles } from './deploy/kustomize.ts';
import { grafanaDashboard } from './operations/grafana.ts';
import { prometheusFiles, runbooksPage } from './operations/prometheus.ts';
import { referencePages } from './reference-pages.ts';
import { billOfMaterials } from './sbom.ts';
import { withSuitesTable } from './suites-table.ts';

const root = path.dirname(import.meta.dirname);

/** Directories where every file is generated; other files in them are leftovers. */
export const generatedFolders = [
  'deploy/kustomize',
  'deploy/helm/causeway',
  'deploy/prometheus',
  'deploy/grafana',
];

/** All generated files, by path in the repository. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    'sbom.cdx.json': billOfMaterials(readLock()),
    'CONTRIBUTING.md': withSuitesTable(readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8')),
    ...below('docs/reference', { ...(await referencePages()), 'runbooks.md': runbooksPage() }),
    ...below('deploy/kustomize', kustomizeFiles()),
    ...below('deploy/helm/causeway', helmFiles(version)),
    ...below('deploy/prometheus', prometheusFiles()),
    ...below('deploy/grafana', { 'causeway.json': grafanaDashboard() }),
  };
}

function below(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]),
  );
}
