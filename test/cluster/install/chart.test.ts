import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { samples } from '../../../scripts/deploy/samples.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runOrThrow, runProgram } from '../../services/run-program.ts';
import { InstalledCluster, objectsOf, type ShippedObject } from './installed-cluster.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
const chart = path.join(root, 'deploy', 'helm', 'causeway');
const available = await isAvailable(async () => {
  await prepareKubernetes();
  await ensureProgram('helm');
});

type Overlay = keyof typeof samples;
const config = (overlay: Overlay) => parse(samples[overlay]) as object;
/** Values that make the chart equal to the overlay. */
const values: Readonly<Record<Overlay, object>> = {
  gateway: { gateway: { enabled: true }, controller: { config: config('gateway') } },
  octavia: { octavia: { enabled: true }, controller: { config: config('octavia') } },
  pool: { pool: { enabled: true }, controller: { config: config('pool') } },
  idling: { idling: { enabled: true }, controller: { config: config('idling') } },
  dashboard: {
    idling: { enabled: true },
    dashboard: { enabled: true },
    controller: { config: config('dashboard') },
  },
  discovery: { discovery: { enabled: true, config: config('discovery') } },
  ipam: { ipam: { enabled: true, config: config('ipam') } },
  proxy: { proxy: { enabled: true, config: config('proxy') } },
  'proxy-in-place': {
    proxy: {
      enabled: true,
      config: config('proxy-in-place'),
      healthPort: 10_256,
      metricsPort: 10_249,
      env: [
        { name: 'KUBERNETES_SERVICE_HOST', value: '192.0.2.1' },
        { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
      ],
    },
  },
};

describe.skipIf(!available)('the chart', () => {
  let cluster: InstalledCluster;
  let helmPath = '';
  beforeAll(async () => {
    helmPath = await ensureProgram('helm');
    cluster = await InstalledCluster.start();
  });
  afterAll(() => cluster?.stop());

  const inNamespace = ['--namespace', 'causeway-system'];
  const env = () => ({
    KUBECONFIG: cluster.kubernetes.kubeconfig,
    HELM_CACHE_HOME: cluster.file('helm-cache'),
    HELM_CONFIG_HOME: cluster.file('helm-config'),
    HELM_DATA_HOME: cluster.file('helm-data'),
  });
  const helm = (input: object, ...words: string[]) =>
    runOrThrow(helmPath, [...words, '--values', '-', ...inNamespace], {
      input: stringify(input),
      env: env(),
    });
  const render = (input: object) =>
    runProgram(helmPath, ['template', 'causeway', chart, '--values', '-', ...inNamespace], {
      input: stringify(input),
      env: env(),
    });

  test.each(Object.keys(values) as Overlay[])(
    'renders the same as the overlay %s',
    async (overlay) => {
      const rendered = await render(values[overlay]);
      expect(rendered.stderr).toBe('');
      expect(comparable(objectsOf(rendered.stdout))).toEqual(
        comparable(await cluster.shipped(overlay)),
      );
    },
  );

  test('takes its settings from a file, as in the installation page', async () => {
    const page = await fs.readFile(path.join(root, 'docs', 'installation.md'), 'utf8');
    const [, line = ''] = /^helm install ((?:.*\\\n)*.*)$/m.exec(page) ?? [];
    await fs.writeFile(cluster.file('controller.yaml'), samples.gateway);
    await fs.symlink(path.join(root, 'deploy'), cluster.file('deploy'));
    const command = `exec "${helmPath}" template ${line}`;
    const rendered = await runProgram('bash', ['-c', command], {
      cwd: path.dirname(cluster.file('controller.yaml')),
      env: env(),
    });
    expect(rendered.stderr).toBe('');
    const settings = objectsOf(rendered.stdout).find(({ kind }) => kind === 'ConfigMap');
    expect(settings).toMatchObject({ data: { 'controller.yaml': samples.gateway } });
  });

  test('names missing values', async () => {
    expect((await render({})).stderr).toContain('Enable a job, one of gateway.enabled');
    const alone = await render({ dashboard: { enabled: true }, ipam: { enabled: true } });
    expect(alone.stderr).toContain('dashboard.enabled needs a job');
  });

  test('is installed with everything, upgraded and uninstalled; the definitions stay', async () => {
    await helm({}, 'lint', chart);
    const all = Object.assign({}, ...Object.values(values)) as object;
    const more = { ...all, gateway: { enabled: true, podLayer: true } };
    await helm(more, 'install', 'causeway', chart, '--create-namespace');
    const image = { image: { repository: 'registry.example/causeway', tag: '9.9.9' } };
    await helm({ ...more, ...image }, 'upgrade', 'causeway', chart);
    const shown = await cluster.kubectl(
      ...['get', 'deployments,statefulsets,daemonsets', '-A', '-o'],
      'jsonpath={.items[*].spec.template.spec.containers[*].image}',
    );
    expect(new Set(shown.split(' '))).toEqual(new Set(['registry.example/causeway:9.9.9']));
    await runOrThrow(helmPath, ['rollback', 'causeway', '1', ...inNamespace], { env: env() });
    await runOrThrow(helmPath, ['uninstall', 'causeway', ...inNamespace], { env: env() });
    const kinds = 'clusterroles,roles,deployments,daemonsets,statefulsets,serviceaccounts';
    const left = await cluster.kubectl(
      ...['get', kinds, '-A', '-l', 'app.kubernetes.io/name=causeway', '-o', 'name'],
    );
    expect(left).toBe('');
    const definitions = await cluster.kubectl('get', 'customresourcedefinitions', '-o', 'name');
    expect(definitions).toContain('kuryrloadbalancers.openstack.org');
  });
});

interface WithAnnotations {
  metadata: { name: string; annotations?: Record<string, string> };
}

interface Template extends WithAnnotations {
  spec: { containers: { env?: { name: string }[] }[] };
}

/** Objects by name, without differences that have the same effect. */
function comparable(objects: readonly ShippedObject[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const object of objects) {
    // kustomize puts a hash of the settings into the ConfigMap's name, the chart into an annotation.
    const text = JSON.stringify(object).replaceAll(
      /"(causeway-(?:controller|discovery|ipam|proxy)-settings)-[a-z0-9]{10}"/g,
      '"$1"',
    );
    const same = JSON.parse(text) as ShippedObject & WithAnnotations & Record<string, unknown>;
    if (same.kind === 'Namespace' && same.metadata.name === 'causeway-system') continue;
    if (same.kind === 'CustomResourceDefinition') delete same.metadata.annotations;
    if (same.kind === 'ConfigMap') {
      const data = same['data'] as Record<string, string>;
      same['data'] = Object.fromEntries(Object.entries(data).map(([k, v]) => [k, parse(v)]));
      same.metadata = { name: same.metadata.name };
    }
    const { spec } = same as { spec?: { template?: Template } };
    delete spec?.template?.metadata.annotations?.['checksum/config'];
    // The order of variables has no meaning; kustomize puts those of a patch first.
    for (const { env = [] } of spec?.template?.spec.containers ?? []) {
      env.sort((left, right) => left.name.localeCompare(right.name));
    }
    found[`${same.kind} ${same.metadata.namespace ?? ''}/${same.metadata.name}`] = same;
  }
  return found;
}
