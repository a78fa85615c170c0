import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import type { Log } from '@causeway/base/observability/log';
import type { Gauge, MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import { countOrphans, orphanKinds, type Orphan, type OrphanReport } from './orphan.ts';

/** The ConfigMap beside the controller's lease that lists orphans and receives confirmations. */
export const orphanRegisterName = 'causeway-orphans';

const confirmationPrefix = 'delete.';
/** Keys of damaged reports that the controller has set aside. */
const damagedPrefix = 'damaged.';
/** A ConfigMap holds 1 MiB at most. Orphans beyond this number are counted, but not listed. */
const mostListed = 500;

export const orphanMetrics = {
  orphans: {
    kind: 'gauge',
    name: 'causeway_orphans',
    help: 'Cloud objects with a mark of this cluster that no Service uses. The controller holds them until an operator confirms the deletion.',
    labels: ['provider', 'kind'],
  },
  otherClusters: {
    kind: 'gauge',
    name: 'causeway_cluster_id_conflicts',
    help: 'Other clusters that mark objects in the cloud project with the same clusterId.',
    labels: ['provider'],
  },
  damaged: {
    kind: 'gauge',
    name: 'causeway_orphans_register_damaged',
    help: '1 while the ConfigMap of orphans has a damaged report of the provider, in place or set aside.',
    labels: ['provider'],
  },
} as const satisfies Record<string, MetricDefinition>;

const orphanSchema = z.object({
  kind: z.enum(['load-balancer', 'floating-ip', 'port']),
  id: z.string(),
  address: z.string().optional(),
  service: z.string().optional(),
  mark: z.enum(['own', 'old']),
});
const reportSchema = z.object({
  version: z.literal(1),
  clusterId: z.string(),
  count: z.number(),
  orphans: z.array(orphanSchema),
  otherClusters: z.array(z.string()),
});

/** The part of the register that one provider writes. */
export interface RegisteredReport extends z.output<typeof reportSchema> {
  readonly provider: string;
  /** The IDs with a deletion that an operator has confirmed. */
  readonly confirmed: readonly string[];
}

/** The providers whose report can't be read, or whose damaged report is set aside, and the key of the data. */
export function damagedReports({ data = {} }: ConfigMap): { provider: string; key: string }[] {
  return Object.entries(data).flatMap(([key, text]) => {
    if (key.startsWith(damagedPrefix)) return [{ provider: key.slice(damagedPrefix.length), key }];
    if (key.startsWith(confirmationPrefix) || parse(text) !== undefined) return [];
    return [{ provider: key, key }];
  });
}

/** One line about a damaged report. */
export function describeDamage({ provider, key }: { provider: string; key: string }): string {
  const where = `the key ${key} of the ConfigMap ${orphanRegisterName}`;
  return key === provider
    ? `the report of ${provider} is damaged (${where}): its orphans are unknown until the controller's next drift detection`
    : `a damaged report of ${provider} was set aside (${where}): confirmations of deletions before it do not count. Delete the key after you have read it`;
}

/** Reads all providers' reports. A damaged report is not among them: see {@link damagedReports}. */
export function readOrphanRegister({ data = {} }: ConfigMap): RegisteredReport[] {
  return Object.entries(data).flatMap(([provider, text]) => {
    if (provider.startsWith(confirmationPrefix) || provider.startsWith(damagedPrefix)) return [];
    const report = parse(text);
    return report === undefined
      ? []
      : [{ ...report, provider, confirmed: [...confirmedIds(data, provider)] }];
  });
}

/** The change of the register's data that confirms the deletion of these orphans. */
export function confirmation(provider: string, ids: readonly string[], by: string): object {
  return { data: Object.fromEntries(ids.map((id) => [confirmationKey(provider, id), by])) };
}

export interface OrphanRegisterOptions {
  readonly client: KubeClient;
  /** The namespace of the controller's lease. */
  readonly namespace: string;
  readonly provider: string;
  readonly clusterId: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Records an Event about the ConfigMap. */
  readonly record: (about: ConfigMap, content: EventContent) => void;
}

/** Lists the orphans that a provider keeps, and reads the operator's confirmations of their deletion. */
export class OrphanRegister {
  readonly #options: OrphanRegisterOptions;
  readonly #orphans: Gauge<'provider' | 'kind'>;
  readonly #otherClusters: Gauge<'provider'>;
  readonly #damaged: Gauge<'provider'>;
  /** The last report in the ConfigMap; undefined until the first read of the ConfigMap. */
  #written: string | undefined;

  constructor(options: OrphanRegisterOptions) {
    this.#options = options;
    this.#orphans = options.metrics.gauge(orphanMetrics.orphans);
    this.#otherClusters = options.metrics.gauge(orphanMetrics.otherClusters);
    this.#damaged = options.metrics.gauge(orphanMetrics.damaged);
  }

  /**
   * Returns the IDs with a confirmed deletion. Returns none after a failure, so that an unclear state deletes
   * nothing.
   */
  async report(report: OrphanReport, signal: AbortSignal): Promise<ReadonlySet<string>> {
    this.#measure(report);
    try {
      return await this.#exchange(report, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#written = undefined;
      const { log } = this.#options;
      log.warn({ error: CausewayError.from(error) }, 'could not write the list of orphans');
      return new Set();
    }
  }

  /** Records that the controller has deleted a confirmed orphan. */
  deleted({ kind, id, address }: Orphan): void {
    const where = address === undefined ? '' : ` (${address})`;
    this.#record('OrphanDeleted', `Deleted the ${kind} ${id}${where}, as confirmed`);
  }

  #measure({ orphans, otherClusters }: OrphanReport): void {
    const { provider } = this.#options;
    for (const kind of orphanKinds) {
      const count = orphans.filter((orphan) => orphan.kind === kind).length;
      this.#orphans.set({ provider, kind }, count);
    }
    this.#otherClusters.set({ provider }, otherClusters.length);
  }

  async #exchange(report: OrphanReport, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { client, namespace, provider } = this.#options;
    const text = this.#format(report);
    const metadata = { namespace, name: orphanRegisterName };
    const { data = {} } = (await client.find(configMaps, metadata, { signal })) ?? {};
    const ids = new Set(report.orphans.map(({ id }) => id));
    const confirmed = [...confirmedIds(data, provider)];
    // An operator confirms orphans that the register lists. A confirmation older than the listing refers to
    // an earlier state of the object, and is removed.
    const listed = new Set(parse(data[provider] ?? '')?.orphans.map(({ id }) => id));
    const isValid = (id: string) => ids.has(id) && listed.has(id);
    const settled = confirmed.filter((id) => !isValid(id));
    const damaged = this.#damagedText(data);
    const change = {
      ...(damaged === undefined ? {} : { [`${damagedPrefix}${provider}`]: damaged }),
      ...((data[provider] ?? '') === text ? {} : { [provider]: text === '' ? null : text }),
      ...Object.fromEntries(settled.map((id) => [confirmationKey(provider, id), null])),
    };
    if (Object.keys(change).length > 0) {
      await patchOrCreate(client, configMaps, { metadata }, { data: change }, signal);
    }
    if (damaged !== undefined) this.#announceDamage();
    const isDamageKnown = damagedReports({ data }).some((each) => each.provider === provider);
    this.#damaged.set({ provider }, isDamageKnown ? 1 : 0);
    if (text !== this.#written) this.#announce(report);
    this.#written = text;
    return new Set(confirmed.filter(isValid));
  }

  /** The text of a report that can't be read, unless an earlier one is set aside already. */
  #damagedText(data: Readonly<Record<string, string>>): string | undefined {
    const { provider } = this.#options;
    const text = data[provider] ?? '';
    if (text === '' || parse(text) !== undefined) return undefined;
    return data[`${damagedPrefix}${provider}`] ?? text;
  }

  #announceDamage(): void {
    const { log, provider } = this.#options;
    const message = `The report of the provider ${provider} in this ConfigMap was damaged. Causeway has set it aside under ${damagedPrefix}${provider} and written a new one. Confirmations of deletions before that do not count.`;
    this.#record('OrphanRegisterDamaged', message);
    log.error({ provider }, 'the list of orphans was damaged, and is set aside');
  }

  #format({ orphans, otherClusters }: OrphanReport): string {
    if (orphans.length === 0 && otherClusters.length === 0) return '';
    const sorted = [...orphans].sort((left, right) => (left.id < right.id ? -1 : 1));
    return JSON.stringify({
      version: 1,
      clusterId: this.#options.clusterId,
      count: orphans.length,
      orphans: sorted.slice(0, mostListed),
      otherClusters: [...otherClusters].sort(),
    });
  }

  #announce({ orphans, otherClusters }: OrphanReport): void {
    const { clusterId, log, provider } = this.#options;
    if (orphans.length > 0) {
      const message = `No Service of this cluster uses ${countOrphans(orphans)} of the provider ${provider}. Causeway keeps them. \`causeway orphans list\` shows them, \`causeway orphans delete\` confirms a deletion.`;
      this.#record('OrphansHeld', message);
      log.warn({ provider, orphans: orphans.length }, 'held orphans; nothing is deleted');
    }
    if (otherClusters.length > 0) {
      const message = `Another cluster uses the same clusterId ${clusterId} in this cloud project: UID ${otherClusters.join(', ')}. Causeway does not touch its objects. Give each cluster its own clusterId, or leave the setting out.`;
      this.#record('ClusterIdShared', message);
      log.warn({ provider, clusterId, otherClusters }, 'another cluster uses the same clusterId');
    }
  }

  #record(reason: EventReason, message: string): void {
    const { namespace, record } = this.#options;
    record({ metadata: { namespace, name: orphanRegisterName } }, { reason, message });
  }
}

/** A register that stores nothing. The provider still keeps its orphans. */
export const noRegister: Pick<OrphanRegister, 'report' | 'deleted'> = {
  report: () => Promise.resolve(new Set()),
  deleted: () => {},
};

function confirmationKey(provider: string, id: string): string {
  return `${confirmationPrefix}${provider}.${id}`;
}

function confirmedIds(data: Readonly<Record<string, string>>, provider: string): Set<string> {
  const prefix = confirmationKey(provider, '');
  return new Set(
    Object.keys(data).flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])),
  );
}

function parse(text: string): z.output<typeof reportSchema> | undefined {
  try {
    return reportSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
