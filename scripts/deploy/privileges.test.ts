import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kustomizeFiles } from './kustomize.ts';

interface Container {
  readonly name: string;
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly privileged?: boolean;
    readonly runAsUser?: number;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
}
interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly Container[];
        readonly initContainers?: readonly Container[];
        readonly securityContext?: {
          readonly runAsNonRoot?: boolean;
          readonly seccompProfile?: { readonly type: string };
        };
        readonly volumes?: readonly { readonly hostPath?: { readonly path: string } }[];
        readonly hostNetwork?: boolean;
        readonly hostPID?: boolean;
        readonly hostIPC?: boolean;
        readonly automountServiceAccountToken?: boolean;
      };
    };
  };
}

const workloads = Object.entries(kustomizeFiles())
  .filter(([name]) => name.startsWith('base/') && name.endsWith('.yaml'))
  .flatMap(([name, text]) =>
    parseAllDocuments(text).map((document) => ({ name, value: document.toJS() as Workload })),
  )
  .filter(({ value }) => value?.spec?.template?.spec?.containers !== undefined);

/** Additional privileges of a job, by the name of its directory. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'base/proxy': ['NET_ADMIN'],
  'base/proxy-in-place': ['NET_ADMIN'],
};

describe('the manifests', () => {
  test('include every job that runs in a cluster', () => {
    expect(workloads.map(({ name }) => path.dirname(name)).sort()).toEqual([
      'base/controller',
      'base/discovery',
      'base/ipam',
      'base/proxy',
      'base/proxy-in-place',
    ]);
  });

  test.each(workloads)('$name has no capability beyond its own', ({ name, value }) => {
    const pod = value.spec?.template?.spec;
    const extra = allowed[path.dirname(name)] ?? [];
    for (const container of [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])]) {
      const context = container.securityContext;
      expect(context?.capabilities?.drop).toEqual(['ALL']);
      expect(context?.capabilities?.add ?? []).toEqual(extra);
      expect(context?.allowPrivilegeEscalation).toBe(false);
      expect(context?.readOnlyRootFilesystem).toBe(true);
      expect(context?.privileged ?? false).toBe(false);
    }
    const isOnNode = extra.length > 0;
    expect(pod?.securityContext?.runAsNonRoot ?? false).toBe(!isOnNode);
    expect(pod?.securityContext?.seccompProfile?.type).toBe('RuntimeDefault');
    expect(pod?.hostNetwork ?? false).toBe(isOnNode);
    const ofNode = (pod?.volumes ?? []).flatMap(({ hostPath }) => hostPath?.path ?? []);
    expect(ofNode).toEqual(isOnNode ? ['/proc/sys/net', '/dev/net/tun'] : []);
    expect(pod?.hostPID ?? false).toBe(false);
    expect(pod?.hostIPC ?? false).toBe(false);
  });
});

const units = path.join(import.meta.dirname, '..', '..', 'deploy', 'systemd');

describe('the units', () => {
  test.each([
    ['causeway-controller.service', ''],
    ['causeway-agent.service', 'CAP_NET_ADMIN CAP_NET_RAW'],
    ['causeway-keepalived.service', 'CAP_NET_ADMIN CAP_NET_RAW CAP_SYS_NICE'],
    ['causeway-proxy.service', 'CAP_NET_ADMIN'],
  ])('%s has no capability beyond its own', (unit, capabilities) => {
    const text = fs.readFileSync(path.join(units, unit), 'utf8');
    const settings = new Map(
      [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]),
    );
    expect(settings.get('CapabilityBoundingSet')).toBe(capabilities);
    expect(settings.get('NoNewPrivileges')).toBe('yes');
    expect(settings.get('ProtectSystem')).toBe('strict');
    expect(settings.get('SystemCallFilter')).toBeDefined();
    expect(settings.get('RestrictAddressFamilies')).toBeDefined();
  });

  test('are all checked here', () => {
    const all = fs.readdirSync(units).filter((name) => name.endsWith('.service'));
    expect(all).toHaveLength(4);
  });
});
