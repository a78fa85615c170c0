import { CausewayError } from '@causeway/base/error/causeway-error';
import { deciding, findSite, put, type Decide, type Decision, type KnownSite } from './decision.ts';
import { keys } from './keys.ts';
import { buildPools, poolHas, refuseOverlap } from './pool.ts';
import {
  siteSettingsSchema,
  type PoolChange,
  type PoolSpec,
  type SiteRecord,
  type SiteSettings,
} from './records.ts';
import { Refusal } from './refusal.ts';

/** Omitted settings do not change. */
type SettingsChange = { readonly [Name in keyof SiteSettings]?: SiteSettings[Name] | undefined };

interface OnSite {
  readonly site: string;
  readonly reason?: string | undefined;
}

/** Creates the site, or changes the given settings. */
export function setSite(
  request: OnSite & { readonly settings: SettingsChange },
): Decide<SiteRecord> {
  return (view) =>
    deciding(() => {
      const before = view.site(request.site)?.site?.record;
      const after: SiteRecord = {
        ...(before ?? { ...siteSettingsSchema.parse({}), name: request.site, pools: [] }),
        ...(withoutUndefined(request.settings) as Partial<SiteSettings>),
      };
      refuseTooShortRests(after);
      return changeSite(request, after, 'set-site', { settings: request.settings });
    });
}

/** Replicas' clocks differ by less than this, and an unmonitored announcer needs some time to stop. */
export const shortestUnconfirmedMs = 5_000;

/** An address that may still be announced is never assigned to another owner at once. */
function refuseTooShortRests({ quarantineMs, unconfirmedQuarantineMs }: SiteSettings): void {
  const leastMs = Math.max(shortestUnconfirmedMs, quarantineMs);
  if (unconfirmedQuarantineMs >= leastMs) return;
  throw new CausewayError(
    'invalid',
    `an unconfirmed quarantine of ${unconfirmedQuarantineMs / 1000} s is too short`,
    {
      hint: `It is for addresses that may still be announced: at least ${shortestUnconfirmedMs / 1000} s, and no less than the quarantine (${quarantineMs / 1000} s).`,
    },
  );
}

/**
 * Creates or replaces a pool. No owner is renumbered: owners keep addresses that the pool no longer includes.
 */
export function setPool(request: OnSite & { readonly pool: PoolChange }): Decide<PoolSpec> {
  return (view) =>
    deciding(() => {
      const site = findSite(view, request.site);
      const { name } = request.pool;
      const before = site.record.pools.find((each) => each.name === name);
      const drained = request.pool.drained ?? before?.drained ?? false;
      const spec: PoolSpec = { ...request.pool, drained };
      const pools = [...site.record.pools.filter((each) => each !== before), spec];
      const built = buildPools(pools);
      const pool = built.find((each) => each.spec === spec);
      if (pool === undefined || pool.sets[4].size + pool.sets[6].size === 0n) {
        throw new CausewayError('invalid', `pool ${name} has no address to assign`, {
          hint: 'Exclusions are never assigned, nor gateways, network and broadcast addresses of any pool of the site.',
        });
      }
      refuseOverlap(pool, built);
      const after = { ...site.record, pools };
      return answering(changeSite(request, after, 'set-pool', { pool: spec }), spec);
    });
}

export function drainPool(
  request: OnSite & { readonly pool: string; readonly drained: boolean },
): Decide<PoolSpec> {
  return (view) =>
    deciding(() => {
      const site = findSite(view, request.site);
      const drained = { ...findPool(site, request.pool), drained: request.drained };
      const pools = site.record.pools.map((pool) => (pool.name === request.pool ? drained : pool));
      const action = request.drained ? 'drain-pool' : 'undrain-pool';
      const changed = changeSite(request, { ...site.record, pools }, action, {
        pool: request.pool,
      });
      return answering(changed, drained);
    });
}

/** Removes a pool without held addresses. */
export function removePool(request: OnSite & { readonly pool: string }): Decide<SiteRecord> {
  return (view) =>
    deciding(() => {
      const site = findSite(view, request.site);
      if (site.record.pools.every(({ name }) => name !== request.pool)) {
        return { kind: 'answer', answer: site.record };
      }
      const pool = site.view.pools.find(({ spec }) => spec.name === request.pool);
      // Includes addresses that the pool lost in a resize: its platform must still release them.
      const held = [...site.view.addresses.values()].filter(
        ({ record }) =>
          record.state === 'held' &&
          (record.pool === request.pool || (pool !== undefined && poolHas(pool, record.address))),
      );
      if (held.length > 0) {
        throw new Refusal(
          'conflict',
          'pool-in-use',
          `${held.length} addresses of pool ${request.pool} are held`,
          { hint: 'Drain the pool, and remove it when they have been freed.' },
        );
      }
      const pools = site.record.pools.filter(({ name }) => name !== request.pool);
      return changeSite(request, { ...site.record, pools }, 'remove-pool', { pool: request.pool });
    });
}

/** Suspends a site, or ends its suspension. */
export function suspendSite(
  request: OnSite & { readonly as: 'moved' | 'recovering' | undefined },
): Decide<SiteRecord> {
  return (view, { now }) =>
    deciding(() => {
      const { record } = findSite(view, request.site);
      if (record.suspended?.as === request.as) return { kind: 'answer', answer: record };
      const { suspended: _ended, ...rest } = record;
      const after: SiteRecord =
        request.as === undefined ? rest : { ...rest, suspended: { as: request.as, since: now } };
      return changeSite(request, after, request.as ?? 'resume');
    });
}

function findPool(site: KnownSite, name: string): PoolSpec {
  const pool = site.record.pools.find((candidate) => candidate.name === name);
  if (pool === undefined) {
    throw new CausewayError('not-found', `site ${site.record.name} has no pool ${name}`);
  }
  return pool;
}

function changeSite(
  request: OnSite,
  after: SiteRecord,
  action: string,
  detail?: Record<string, unknown>,
): Decision<SiteRecord> {
  const key = keys.site(request.site);
  return {
    kind: 'change',
    reads: [key],
    writes: [put(key, after)],
    audit: { action, site: request.site, reason: request.reason, detail },
    answer: after,
  };
}

function answering<T>(decision: Decision<SiteRecord>, answer: T): Decision<T> {
  return decision.kind === 'change' || decision.kind === 'answer'
    ? { ...decision, answer }
    : decision;
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as Partial<T>;
}
