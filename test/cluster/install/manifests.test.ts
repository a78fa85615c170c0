import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { InstalledCluster, kustomizeFolder, type ShippedObject } from './installed-cluster.ts';

const overlays = await fs.readdir(path.join(kustomizeFolder, 'overlays'));

describe.skipIf(!(await isAvailable(prepareKubernetes)))('the manifests', () => {
  let cluster: InstalledCluster;
  beforeAll(async () => {
    cluster = await InstalledCluster.start();
    for (const folder of ['base/namespace', 'base/reports', 'crds']) {
      await cluster.kubectl('apply', '--server-side', '-k', path.join(kustomizeFolder, folder));
    }
    await cluster.kubectl('apply', '-f', path.join(kustomizeFolder, 'base/proxy/namespace.yaml'));
  });
  afterAll(() => cluster?.stop());

  test('there is an overlay for each job', () => {
    expect(overlays.sort()).toEqual([
      ...['dashboard', 'discovery', 'gateway', 'idling', 'ipam', 'octavia', 'pool'],
      ...['proxy', 'proxy-in-place'],
    ]);
  });

  test.each(overlays)('%s is accepted, dry and for real', async (overlay) => {
    const folder = path.join(kustomizeFolder, 'overlays', overlay);
    const strict = ['--server-side', '--validate=strict'];
    await cluster.kubectl('apply', '-k', folder, '--dry-run=server', ...strict);
    await cluster.kubectl('apply', '-k', folder, ...strict);
    await cluster.kubectl('get', '-k', folder);
  });

  test.each(overlays)('pod security of its namespace lets the pods of %s in', async (overlay) => {
    for (const object of await cluster.shipped(overlay)) {
      if (!/^(?:Deployment|StatefulSet|DaemonSet)$/.test(object.kind)) continue;
      await cluster.apply(podFrom(object, overlay));
    }
  });

  test('pod security is on: the same pod with one more privilege is rejected', async () => {
    const [deployment] = (await cluster.shipped('gateway')).filter(
      ({ kind }) => kind === 'Deployment',
    );
    if (deployment === undefined) throw new Error('no Deployment');
    const pod = podFrom(deployment, 'privileged');
    const spec = { ...pod.spec, hostNetwork: true };
    await expect(cluster.apply({ ...pod, spec })).rejects.toThrow(
      /violates PodSecurity "restricted/,
    );
  });
});

/** A pod as the workload's controller creates it. */
function podFrom(workload: ShippedObject, name: string) {
  const { spec, metadata } = workload as unknown as {
    metadata: { namespace: string };
    spec: {
      template: {
        metadata: object;
        spec: { volumes: { name: string }[]; [field: string]: unknown };
      };
    };
  };
  const { template } = spec;
  const volumes = workload.kind === 'StatefulSet' ? [{ name: 'ledger', emptyDir: {} }] : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, namespace: metadata.namespace, name },
    spec: { ...template.spec, volumes: [...template.spec.volumes, ...volumes] },
  };
}
