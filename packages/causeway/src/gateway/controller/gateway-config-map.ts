import { z } from 'zod';
import { isCutOff, isOutage } from '../protocol/alarm.ts';
import { roles, type Role } from '../protocol/role.ts';
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
import type { GatewayStanding } from './fleet/agent-fleet.ts';
import { fromLegacyGatewayState } from './ports/legacy.ts';

/** The ConfigMap that operators and the controller share. */
export const gatewayConfigMapName = 'causeway-gateways';

const fencePrefix = 'fence.';
const statePrefix = 'state.';

const fenceSchema = z.object({ reason: z.string(), since: z.string() });
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
});
const stateSchema = z.preprocess(fromLegacyGatewayState, currentStateSchema);

type Fence = z.output<typeof fenceSchema>;
type State = z.output<typeof stateSchema>;

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

const knownRoles: ReadonlySet<Role | undefined> = new Set(['active', 'standby', 'unable']);

/** A problem of all gateways together. */
export interface GatewayOutage {
  /** False if no agent answers: the rules of a gateway work without its agent. */
  readonly isCertain: boolean;
  readonly message: string;
}

const noAgent: GatewayOutage = {
  isCertain: false,
  message: 'no agent of a gateway answers, so it is not known whether clients are served',
};

/**
 * Why no gateway can serve clients, if so. A gateway can't if an alarm says so. If all roles are known, one gateway
 * must also be active.
 */
export function whyNoneServes(gateways: readonly GatewayEntry[]): GatewayOutage | undefined {
  const isAnswering = gateways.some(({ state }) => state?.reachable === true);
  if (gateways.length > 0 && !isAnswering) return noAgent;
  const message = certainOutage(gateways);
  return message === undefined ? undefined : { isCertain: true, message };
}

function certainOutage(gateways: readonly GatewayEntry[]): string | undefined {
  const states = gateways.map(({ state }) => state);
  if (states.length === 0) return undefined;
  const isAble = (state: State | undefined) =>
    state?.reachable === true && !state.problems.some(isOutage);
  if (!states.some(isAble)) return 'no gateway can serve clients';
  const areRolesKnown = states.every((state) => knownRoles.has(state?.role));
  const active = states.filter((state) => state?.role === 'active');
  if (areRolesKnown && active.length === 0) return 'no gateway is active: clients get no answer';
  const cutOff = active.map((state) => state?.problems.find(isCutOff));
  const isReaching = active.length === 0 || cutOff.includes(undefined);
  return isReaching ? undefined : `the active gateway reaches no backend: ${cutOff[0]}`;
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
  #states: ReadonlyMap<string, State> = new Map();
  #written = '';

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
      maxIntervalMs: 60_000,
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

  /** Takes the state of the gateways. It is written after a change, at a limited rate. */
  show(standings: readonly GatewayStanding[]): void {
    this.#states = new Map(standings.map((standing) => [standing.name, stateOf(standing)]));
    if (this.#text() !== this.#written) this.#writer.request();
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
    return JSON.stringify([...this.#states]);
  }

  async #write(signal: AbortSignal): Promise<void> {
    const text = this.#text();
    if (text === this.#written || this.#states.size === 0) return;
    const data: Record<string, string | null> = {};
    for (const key of Object.keys(this.#configMap?.data ?? {})) {
      if (key.startsWith(statePrefix)) data[key] = null;
    }
    for (const [name, state] of this.#states) data[`${statePrefix}${name}`] = JSON.stringify(state);
    await writeGatewayConfigMap(this.#options.client, this.#options.namespace, { data }, signal);
    this.#written = text;
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

function stateOf(standing: GatewayStanding): State {
  const {
    downForMs,
    failure,
    generation,
    isCurrent,
    role,
    isFenced,
    refusedFrontends,
    complaints,
  } = standing;
  return {
    reachable: downForMs === undefined,
    generation,
    current: isCurrent,
    ...(role === undefined ? {} : { role }),
    fenced: isFenced,
    refusedFrontends,
    problems: [...(failure === undefined ? [] : [failure]), ...complaints],
  };
}

function parse<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
