import fs from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { agentSettings } from '../../packages/causeway/src/gateway/agent/settings.ts';
import { controllerCommandSettings } from '../../packages/causeway/src/cli/controller/load-settings.ts';
import { loadConfig } from '../../packages/base/src/settings/load-settings.ts';
import { settingsOf } from '../../packages/base/src/settings/settings.ts';
import { discoverySettings } from '../../packages/causeway/src/discovery/settings.ts';
import { parseAddressRange } from '../../packages/base/src/address/address-range.ts';
import { parseDuration } from '../../packages/base/src/time/duration.ts';
import { parseInterface, parsePrefix } from '../../packages/base/src/address/prefix.ts';
import { withoutControls } from '../../packages/base/src/text/printable.ts';
import {
  ipamClientSettings,
  ipamServerSettings,
} from '../../packages/causeway/src/ipam/settings.ts';
import { parseCloudletIps } from '../../packages/causeway/src/ipam/cloudlet-ips.ts';
import {
  loadKubeconfig,
  resolveKubeconfig,
} from '../../packages/kubernetes/src/credentials/kubeconfig.ts';
import { settingsFromCloudsYaml } from '../../packages/openstack/src/config/clouds-yaml.ts';
import { cloudConfigFromSecret } from '../../packages/openstack/src/config/kubernetes-secret.ts';
import { cloudConfigFrom } from '../../packages/openstack/src/config/settings.ts';
import { parseScenario } from '../../packages/causeway/src/playground/scenario.ts';
import { convertKubeProxyConfiguration } from '../../packages/causeway/src/node-proxy/kube-proxy-configuration.ts';
import { proxySettings } from '../../packages/causeway/src/node-proxy/settings.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { attempt, attemptAsync, hostileJson, hostileText, nearly, nearlyText } from './hostile.ts';

let directory: string;
let file: string;
beforeAll(async () => {
  directory = await scratchDirectory('fuzz-files');
  file = path.join(directory, 'file.yaml');
});
afterAll(() => removeDirectory(directory));

const cloudsYaml = `clouds:
  here:
    auth:
      auth_url: https://keystone.example/v3
      username: us
      password: hunter2-in-clouds
      project_name: shop
    region_name: one
`;

/** Nested aliases: a thousand characters that expand to millions. */
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, index) => {
    const before = '*' + 'abcdefgh'[index];
    return `${name}: &${name} [${Array<string>(9).fill(before).join(',')}]`;
  })
  .join('\n')}\n`;

describe('configuration files', () => {
  const schemas: Record<string, z.ZodType> = {
    agent: agentSettings,
    controller: controllerCommandSettings,
    discovery: discoverySettings,
    ipam: ipamServerSettings,
    'ipam client': ipamClientSettings,
    proxy: proxySettings,
  };

  test.each(Object.keys(schemas))(
    'of %s are parsed, or the error says what is wrong',
    async (name) => {
      const schema = schemas[name];
      if (schema === undefined) throw new Error('no schema');
      const known = settingsOf(schema).map((setting) => setting.path.join('.'));
      const line = fc
        .tuple(fc.oneof(fc.constantFrom(...known), hostileText), fc.oneof(hostileText, hostileJson))
        .map(([key, value]) => {
          const parts = key.split('.');
          const inner = parts.reduceRight<unknown>((rest, part) => ({ [part]: rest }), value);
          return JSON.stringify(inner);
        });
      await fc.assert(
        fc.asyncProperty(fc.oneof(hostileText, line), async (text) => {
          await fs.writeFile(file, text);
          await attemptAsync(() => loadConfig(schema, { file, environment: {}, flags: {} }));
        }),
        { numRuns: 60 },
      );
    },
  );

  test('that expand without limit are rejected', async () => {
    await fs.writeFile(file, bomb);
    const load = loadConfig(proxySettings, { file, environment: {}, flags: {} });
    await expect(load).rejects.toMatchObject({ code: 'invalid' });
    expect(() => parseScenario(bomb, 'bomb')).toThrow('aliases');
    expect(() => settingsFromCloudsYaml(bomb, undefined, undefined)).toThrow('not YAML');
    await expect(loadKubeconfig([file])).rejects.toMatchObject({ code: 'invalid' });
  });

  test("of kube-proxy become settings that are validated like Causeway's own", () => {
    const valid = {
      kind: 'KubeProxyConfiguration',
      clusterCIDR: '10.244.0.0/16',
      conntrack: { tcpEstablishedTimeout: '2h0m0s' },
      detectLocalMode: 'ClusterCIDR',
      healthzBindAddress: '[::]:10356',
    };
    fc.assert(
      fc.property(nearly(valid), (tree) => {
        if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return;
        const converted = attempt(() => convertKubeProxyConfiguration({ ...tree }));
        for (const warning of converted?.warnings ?? []) {
          // A message of Causeway, not one of JavaScript.
          expect(warning).not.toMatch(/undefined|is not a function|Cannot (?:read|convert)/);
        }
        proxySettings.safeParse(converted?.settings);
      }),
      { numRuns: 300 },
    );
  });

  test("of kube-proxy may use JavaScript's property names", () => {
    const { warnings } =
      convertKubeProxyConfiguration({
        kind: 'KubeProxyConfiguration',
        detectLocalMode: 'constructor',
        constructor: 'x',
        toString: 1,
        valueOf: { hasOwnProperty: 1 },
      }) ?? {};
    expect(warnings).toHaveLength(4);
    expect(warnings?.join('\n')).not.toContain('undefined');
  });
});

describe('credentials', () => {
  test('in clouds.yaml are parsed as one cloud, or rejected without being repeated', () => {
    const name = fc.option(fc.oneof(fc.constant('here'), hostileText), { nil: undefined });
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText(cloudsYaml)), name, (text, cloud) => {
        try {
          const { name: found, settings } = settingsFromCloudsYaml(text, undefined, cloud);
          cloudConfigFrom(found, settings);
        } catch (error) {
          expect(String(error)).not.toContain('hunter2-in');
          attempt(() => {
            throw error;
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    "of the cloud %s don't exist",
    (name) => {
      expect(() => settingsFromCloudsYaml(cloudsYaml, undefined, name)).toThrow('has no cloud');
      const settings = { auth_url: 'https://a.example', username: 'u', password: 'p' };
      expect(() => cloudConfigFrom('x', { ...settings, auth_type: name })).toThrow('auth_type');
    },
  );

  test('in a Secret of Gimbal are parsed, or rejected without being repeated', () => {
    const secret: Record<string, string> = {
      'auth-url': 'https://keystone.example/v3',
      username: 'us',
      password: 'hunter2-secret',
      'project-name': 'shop',
      'certificate-authority-data': '-----BEGIN CERTIFICATE-----',
    };
    const data = Object.fromEntries(
      Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    const values = fc.oneof(
      fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(secret)), hostileText), hostileText),
      fc
        .tuple(fc.constantFrom(...Object.keys(data)), hostileText)
        .map(([key, text]) => ({ ...data, [key]: Buffer.from(text).toString('base64') })),
      hostileText.map((text) => ({ ...data, 'clouds.yaml': Buffer.from(text).toString('base64') })),
    );
    fc.assert(
      fc.property(values, (some) => {
        try {
          cloudConfigFromSecret('backend', some);
        } catch (error) {
          expect(String(error)).not.toContain('hunter2-secret');
          attempt(() => {
            throw error;
          });
        }
      }),
      { numRuns: 200 },
    );
  });

  test('in a kubeconfig are parsed, or rejected without being repeated', async () => {
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }],
      users: [{ name: 'u', user: { token: 'hunter2-token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    const text = fc.oneof(
      hostileText,
      fc.oneof(hostileJson, nearly(kubeconfig)).map((value) => JSON.stringify(value) ?? ''),
      nearlyText(JSON.stringify(kubeconfig)),
    );
    await fc.assert(
      fc.asyncProperty(text, async (some) => {
        await fs.writeFile(file, some);
        try {
          const config = await loadKubeconfig([file]);
          const { server } = resolveKubeconfig(config, { env: {}, clock: systemClock });
          expect(server).toMatch(/^https?:/i);
        } catch (error) {
          expect(String(error)).not.toContain('hunter2-token');
          attempt(() => {
            throw error;
          });
        }
      }),
      { numRuns: 120 },
    );
  });
});

describe('imported data', () => {
  test('of EdgeXR is one cloudlet, or the error says what is wrong', () => {
    const valid = {
      cloudlet: 'munich',
      ipPool: '192.0.2.10-192.0.2.20',
      clusters: {
        one: {
          controlPlaneIpv4: '192.0.2.11',
          loadBalancers: [{ namespace: 'a', name: 'b', ipv4: '192.0.2.12' }],
        },
      },
    };
    expect(parseCloudletIps(JSON.stringify(valid)).cloudlet).toBe('munich');
    const text = fc.oneof(
      hostileText,
      fc.oneof(hostileJson, nearly(valid)).map((value) => JSON.stringify(value) ?? ''),
    );
    fc.assert(
      fc.property(text, (some) => {
        const cloudlet = attempt(() => parseCloudletIps(some));
        for (const name of Object.keys(cloudlet?.clusters ?? {})) {
          expect(name).toMatch(/^[a-z0-9-]+$/);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('of a scenario is objects, or the error names the invalid document', () => {
    const valid =
      'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\nkind: LoadBalancers\nitems: [{name: x}]\n';
    expect(parseScenario(valid, 'x').loadBalancers).toHaveLength(1);
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText(valid)), (text) => {
        attempt(() => parseScenario(text, 'scenario.yaml'));
      }),
      { numRuns: 200 },
    );
  });
});

test('networks, ranges and times of any text are parsed correctly, or rejected', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      attempt(() => parsePrefix(text));
      attempt(() => parseInterface(text));
      attempt(() => parseAddressRange(text));
      const duration = attempt(() => parseDuration(text));
      if (duration !== undefined) expect(Number.isFinite(duration)).toBe(true);
      // oxlint-disable-next-line no-control-regex
      expect(withoutControls(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }),
    { numRuns: 500 },
  );
});
