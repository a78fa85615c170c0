import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { services } from '@causeway/kubernetes/objects/resources';
import { formatRecord, recordAnnotation } from '../../services/record.ts';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

interface EventCase {
  readonly reason: string;
  /** By default the reason in lower case. */
  readonly name?: string;
  /** A part of the message. */
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Service['spec'];
  /** Changes the Service before the controller starts. */
  readonly change?: (service: Service) => Promise<unknown>;
}

const asking = (address: string) => ({ 'causeway.dev/address': address });

/** The gateways have addresses of IPv4 only. */
const cases: readonly EventCase[] = [
  {
    reason: 'NoSuchFamily',
    message: 'The Service requests IPv6, and the gateways have addresses of IPv4 only.',
    spec: { ipFamilies: ['IPv6'] },
  },
  {
    reason: 'NoSuchFamily',
    name: 'required-family',
    message: 'The Service requires IPv4 and IPv6, and the gateways have addresses of IPv4 only.',
    spec: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
  },
  {
    reason: 'AddressOfOtherFamily',
    message: 'The Service requests 2001:db8::9, but does not use IPv6.',
    annotations: asking('2001:db8::9'),
  },
  {
    reason: 'InvalidAddress',
    message: '"nonsense" is not an IP address.',
    annotations: asking('nonsense'),
  },
  {
    reason: 'AddressesDiffer',
    message: 'causeway.dev/address and spec.loadBalancerIP request different addresses.',
    annotations: asking('192.0.2.1'),
    spec: { loadBalancerIP: '192.0.2.2' },
  },
  {
    reason: 'AddressesDiffer',
    name: 'metallb-differs',
    message: 'causeway.dev/address and metallb.io/loadBalancerIPs request different addresses.',
    annotations: { ...asking('192.0.2.1'), 'metallb.io/loadBalancerIPs': '192.0.2.2' },
  },
  {
    reason: 'SharingKeysDiffer',
    message: 'causeway.dev/sharing-key and metallb.io/allow-shared-ip have different keys.',
    annotations: { 'causeway.dev/sharing-key': 'a', 'metallb.io/allow-shared-ip': 'b' },
  },
  {
    reason: 'UnknownAnnotation',
    message: 'causeway.dev/adress is not known: is causeway.dev/address meant?',
    annotations: { 'causeway.dev/adress': '192.0.2.1' },
  },
  {
    reason: 'AddressRefused',
    message: '203.0.113.1 is not in the list of addresses',
    annotations: asking('203.0.113.1'),
  },
  {
    reason: 'AffinityTimeoutNotUsed',
    message: 'The gateways do not use the timeout of 600 s for session affinity.',
    spec: {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
    },
  },
  {
    reason: 'ForeignAddress',
    message: 'The status has 203.0.113.9, which Causeway did not write.',
    change: ({ metadata = {} }) => {
      const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } };
      const name = named(metadata.name ?? '');
      return lab.client.patchMerge(services, name, { status }, { subresource: 'status' });
    },
  },
  {
    reason: 'ProviderMissing',
    message: 'The provider other serves this Service, but it is not configured.',
    change: ({ metadata: { name = '', uid = '' } = {} }) => {
      const record = formatRecord({ uid, provider: 'other', ingress: [] });
      return lab.patch(name, { metadata: { annotations: { [recordAnnotation]: record } } });
    },
  },
  {
    reason: 'UnreadableRecord',
    message: "The annotation causeway.dev/load-balancer can't be read",
    annotations: { [recordAnnotation]: 'not JSON' },
  },
];

let lab: ProviderLab;

beforeAll(async () => {
  lab = await ProviderLab.start();
  for (const { reason, name = reason.toLowerCase(), annotations, spec, change } of cases) {
    const service = newService(name, 80, annotations);
    const wanted = { ...service, spec: { ...service.spec, ...spec } };
    const created = await lab.client.create(services, wanted);
    await change?.(created);
  }
  lab.startController();
});
afterAll(() => lab.close());

test.each(cases)('$reason is recorded', async ({ reason, message }) => {
  await until(() => {
    const recorded = lab.events.filter((event) => event.startsWith(`Warning ${reason}: `));
    expect(recorded.join('\n')).toContain(message);
  });
});
