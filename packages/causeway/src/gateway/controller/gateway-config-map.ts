import { z } from 'zod';
import { roles } from '../protocol/role.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { Store } from '@causeway/kubernetes/cache/store';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import type { FleetReport, GatewayReport } from './fleet/fleet-report.ts';
import { fromLegacyGatewayState } from './ports/legacy.ts';

/** The ConfigMap that operators and the controller share. */
export const gatewayConfigMapName = 'causeway-gateways';

const fencePrefix = 'fence.';
const statePrefix = 'state.';
const observedKey = 'observed';
/** The report is written again after this time, so that a reader knows that it is current. */
const renewMs = 10_000;

const fenceSchema = z.object({ reason: z.string(), since: z.string() });
const servicesSchema = z.object({ total: z.number(), services: z.array(z.string()) });
const currentStateSchema = z.object({
  reachable: z.boolean(),
  /** The newest confirmed generation. Older versions don't write it. */
  generation: z.number().optional(),
  current: z.boolean(),
  /** Missing while the gateway does not answer. A role of a later version counts as missing. */
  role: z.enum(roles).optional().catch(undefined),
  fenced: z.boolean(),
  refusedFrontends: z.number(),
  problems: z.array(z.string()),
  /** When the gateway stopped answering or accepting updates. */
  failedSince: z.string().optional(),
  /** The Services that the gateway rejects. Older versions don't write them. */
  rejected: z
    .object({
      total: z.number(),
      services: z.array(z.object({ service: z.string(), message: z.string() })),
    })
    .optional(),
  /** The Services whose last change the gateway has not confirmed, if any. */
  unconfirmed: servicesSchema.extend({ since: z.string() }).optional(),
});
const observedSchema = z.object({ at: z.string(), unhealthy: servicesSchema });
const stateSchema = z.preprocess(fromLegacyGatewayState, currentStateSchema);

type Fence = z.output<typeof fenceSchema>;
type State = z.output<typeof stateSchema>;
type Observed = z.output<typeof observedSchema>;

/** The entry of one gateway. */
export interface GatewayEntry {
  readonly name: string;
  readonly fence: Fence | undefined;
  readonly state: State | undefined;
}

/** Reads all gateways in the ConfigMap, by name. */
export function readGatewayConfigMap({ data = {} }: ConfigMap): GatewayEntry[] {
  const names = new Set<string>();
  for (const key of Object.keys(data)) {
    for (const prefix of [fencePrefix, statePrefix]) {
      if (key.startsWith(prefix)) names.add(key.slice(prefix.length));
    }
  }
  return [...names].sort().map((name) => ({
    name,
    fence: parse(fenceSchema, data[`${fencePrefix}${name}`]),
    state: parse(stateSchema, data[`${statePrefix}${name}`]),
  }));
}

/** When the controller last wrote the ConfigMap, and which Services have only unhealthy backends. */
export function readObserved({ data = {} }: ConfigMap): Observed | undefined {
  return parse(observedSchema, data[observedKey]);
}

/** The change of the ConfigMap's data that fences a gateway, or removes the fence. */
export function fenceChange(name: string, fence: Fence | undefined): object {
  const text = fence === undefined ? null : JSON.stringify(fence);
  return { data: { [`${fencePrefix}${name}`]: text } };
}

export interface GatewayConfigMapOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * The controller's side of the ConfigMap: watches for requested fences, and writes the state of the gateways.
 */
export class GatewayConfigMap {
  readonly #options: GatewayConfigMapOptions;
  readonly #store: Store<ConfigMap>;
  readonly #reflector: Reflector<ConfigMap, ConfigMap>;
  readonly #writer: BoundedFrequencyRunner;
  #read: (() => FleetReport) | undefined;
  #states: ReadonlyMap<string, State> = new Map();
  #unhealthy: FleetReport['unhealthy'] = { total: 0, services: [] };
  #written = '';
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(options: GatewayConfigMapOptions) {
    const { clock, log, namespace } = options;
    this.#options = options;
    this.#store = new Store<ConfigMap>({ log });
    this.#reflector = new Reflector({
      ...options,
      resource: configMaps,
      store: this.#store,
      projection: withSlimMetadata,
      selection: { namespace, fieldSelector: `metadata.name=${gatewayConfigMapName}` },
    });
    this.#writer = new BoundedFrequencyRunner({
      name: 'gateway ConfigMap',
      run: (signal) => this.#write(signal),
      minIntervalMs: 2_000,
      burst: 2,
      maxIntervalMs: renewMs,
      retryMs: 10_000,
      clock,
      log,
    });
  }

  /** Resolves when the requested fences are known. */
  get synced(): Promise<void> {
    return this.#store.synced;
  }

  /** The gateways that an operator wants fenced. A fence with unreadable content counts too. */
  askedFor(): ReadonlySet<string> {
    const keys = Object.keys(this.#configMap?.data ?? {});
    return new Set(
      keys.filter((key) => key.startsWith(fencePrefix)).map((key) => key.slice(fencePrefix.length)),
    );
  }

  onChange(callback: () => void): () => void {
    return this.#store.onChange(callback);
  }

  /** Takes the report about the gateways. It is written after a change, and at intervals. */
  show(read: () => FleetReport): void {
    this.#read = read;
    this.#refresh();
    if (this.#text() !== this.#written) this.#writer.request();
  }

  /** Reads the report. A time in it stays the same while its problem lasts. */
  #refresh(): void {
    if (this.#read === undefined) return;
    const { gateways, unhealthy } = this.#read();
    const now = this.#options.clock.wallTime();
    this.#unhealthy = unhealthy;
    this.#states = new Map(
      gateways.map((gateway) => [
        gateway.name,
        stateOf(gateway, this.#states.get(gateway.name), now),
      ]),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      reflector: (inner) => this.#reflector.run(inner),
      writer: (inner) => this.#writer.loop(inner),
    });
  }

  get #configMap(): ConfigMap | undefined {
    return this.#store.get(`${this.#options.namespace}/${gatewayConfigMapName}`);
  }

  #text(): string {
    return JSON.stringify([[...this.#states], this.#unhealthy]);
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { client, namespace, clock } = this.#options;
    this.#refresh();
    const text = this.#text();
    const isRecent = clock.monotonic() - this.#writtenAt < renewMs;
    if ((text === this.#written && isRecent) || this.#states.size === 0) return;
    const observed: Observed = {
      at: new Date(clock.wallTime()).toISOString(),
      unhealthy: { ...this.#unhealthy, services: [...this.#unhealthy.services] },
    };
    const data: Record<string, string | null> = { [observedKey]: JSON.stringify(observed) };
    for (const key of Object.keys(this.#configMap?.data ?? {})) {
      if (key.startsWith(statePrefix)) data[key] = null;
    }
    for (const [name, state] of this.#states) data[`${statePrefix}${name}`] = JSON.stringify(state);
    const startedAt = clock.monotonic();
    await writeGatewayConfigMap(client, namespace, { data }, signal);
    this.#written = text;
    this.#writtenAt = startedAt;
  }
}

/** Changes the ConfigMap, or creates it. */
export async function writeGatewayConfigMap(
  client: KubeClient,
  namespace: string,
  change: object,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { namespace, name: gatewayConfigMapName };
  await patchOrCreate(client, configMaps, { metadata }, change, signal);
}

function stateOf(gateway: GatewayReport, before: State | undefined, now: number): State {
  const { downForMs, failure, generation, isCurrent, role } = gateway;
  const { isFenced, refusedFrontends, complaints, rejected, unconfirmed } = gateway;
  return {
    reachable: downForMs === undefined,
    generation,
    current: isCurrent,
    ...(role === undefined ? {} : { role }),
    fenced: isFenced,
    refusedFrontends,
    problems: [...(failure === undefined ? [] : [failure]), ...complaints],
    ...(downForMs === undefined
      ? {}
      : { failedSince: sinceOf(before?.failedSince, now - downForMs) }),
    rejected: { total: rejected.total, services: [...rejected.services] },
    ...(unconfirmed === undefined
      ? {}
      : {
          unconfirmed: {
            total: unconfirmed.total,
            services: [...unconfirmed.services],
            since: sinceOf(before?.unconfirmed?.since, now - unconfirmed.forMs),
          },
        }),
  };
}

/** The earlier text if it means the same time. Clocks differ a little, and a changed text is a write. */
function sinceOf(before: string | undefined, since: number): string {
  const isSame = before !== undefined && Math.abs(Date.parse(before) - since) < 2_000;
  return isSame ? before : new Date(since).toISOString();
}

function parse<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
