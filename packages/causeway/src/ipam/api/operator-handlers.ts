import { randomUUID } from 'node:crypto';
import { queryAudit } from '../audit-log.ts';
import { takeBackup } from '../backup.ts';
import {
  configureCluster,
  createCluster,
  reclaimCluster,
  removeCluster,
} from '../cluster-decisions.ts';
import { issueCredential, revokeCredential, summaryOf } from '../credential-decisions.ts';
import { certificateId, mintToken } from '../credential.ts';
import { findSite } from '../decision.ts';
import { keys } from '../keys.ts';
import { drainPool, removePool, setPool, setSite, suspendSite } from '../site-decisions.ts';
import type { SiteView } from '../site-view.ts';
import { clusterAnswer, poolAnswer, siteAnswer } from './answers.ts';
import type { ClusterOperation } from './cluster-handlers.ts';
import type { LoadBalancerOperation } from './load-balancer-handlers.ts';
import { change, type Context, type Handlers } from './context.ts';
import type { AnswerOf, InputOf, OperationName } from './operations.ts';

const siteOf = ({ allocator }: Context, name: string): SiteView =>
  findSite(allocator.view, name).view;

type OperatorOperation = Exclude<OperationName, ClusterOperation | LoadBalancerOperation>;

/** Operations of operators: sites, pools, clusters, credentials, audit, backup. */
export const operatorHandlers: Handlers<OperatorOperation> = {
  listSites: (context) =>
    context.allocator.read(
      context,
      (view) => ({ items: view.sites.map(siteAnswer) }),
      context.signal,
    ),

  async setSite(context, { params: { site }, body: { reason, ...settings } }) {
    await change(context, keys.site(site), setSite({ site, settings, reason }));
    return siteAnswer(siteOf(context, site));
  },

  async suspendSite(context, { params: { site }, body: { as, reason } }) {
    await change(context, keys.site(site), suspendSite({ site, as, reason }));
    return siteAnswer(siteOf(context, site));
  },

  async resumeSite(context, { params: { site }, body: { reason } }) {
    await change(context, keys.site(site), suspendSite({ site, as: undefined, reason }));
    return siteAnswer(siteOf(context, site));
  },

  listPools: (context, { params }) =>
    context.allocator.read(
      context,
      (view) => {
        const { view: site, record } = findSite(view, params.site);
        const { now } = context.allocator;
        return { items: record.pools.map((pool) => poolAnswer(site, pool, now)) };
      },
      context.signal,
    ),

  async setPool(context, { params: { site, pool: name }, body: { reason, ...spec } }) {
    const decide = setPool({ site, pool: { ...spec, name }, reason });
    const pool = await change(context, keys.site(site), decide);
    return poolAnswer(siteOf(context, site), pool, context.allocator.now);
  },

  async drainPool(context, { params: { site, pool }, body: { drained, reason } }) {
    const spec = await change(context, keys.site(site), drainPool({ site, pool, drained, reason }));
    return poolAnswer(siteOf(context, site), spec, context.allocator.now);
  },

  async removePool(context, { params: { site, pool }, query: { reason } }) {
    await change(context, keys.site(site), removePool({ site, pool, reason }));
    return {};
  },

  async createCluster(context, { params: { site }, body }) {
    const { id, hash, token } = mintToken();
    const request = { ...body, site, id: randomUUID(), epoch: randomUUID() };
    const { cluster, controlPlane } = await change(
      context,
      keys.cluster(site, body.cluster),
      createCluster({ ...request, controlPlane: body.controlPlane, credential: { id, hash } }),
    );
    const shown = clusterAnswer(siteOf(context, site), cluster, context.allocator.now);
    const reservation =
      controlPlane === undefined
        ? {}
        : { controlPlane: { ...controlPlane, addresses: [...controlPlane.addresses] } };
    return { cluster: shown, ...reservation, token };
  },

  listClusters: (context, { params }) =>
    context.allocator.read(
      context,
      (view) => {
        const site = findSite(view, params.site).view;
        const { now } = context.allocator;
        return {
          items: [...site.clusters.values()].map(({ record }) => clusterAnswer(site, record, now)),
        };
      },
      context.signal,
    ),

  async configureCluster(context, { params: { site, cluster }, body }) {
    const decide = configureCluster({ site, cluster, ...body });
    const record = await change(context, keys.cluster(site, cluster), decide);
    return clusterAnswer(siteOf(context, site), record, context.allocator.now);
  },

  async removeCluster(context, { params: { site, cluster }, query }) {
    const decide = removeCluster({ site, cluster, ...query });
    const { addresses } = await change(context, keys.cluster(site, cluster), decide);
    return { addresses: [...addresses] };
  },

  async reclaimCluster(context, { params: { site, cluster }, body }) {
    const decide = reclaimCluster({ site, cluster, epoch: randomUUID(), ...body });
    const { addresses } = await change(context, keys.cluster(site, cluster), decide);
    return { addresses: [...addresses] };
  },

  issueClusterCredential: (context, { params, body }) => issue(context, body, params),

  listCredentials: (context) =>
    context.allocator.read(
      context,
      (view) => ({ items: [...view.credentials].map(({ record }) => summaryOf(record)) }),
      context.signal,
    ),

  issueOperatorCredential: (context, { body }) => issue(context, body, undefined),

  revokeCredential: (context, { params: { id }, query: { reason } }) =>
    change(context, keys.credential(id), revokeCredential({ id, reason })),

  async audit(context, { query }) {
    const { allocator, signal } = context;
    await allocator.read(context, () => undefined, signal);
    const { records, next } = await queryAudit(allocator.ledger, query, signal);
    return { records: [...records], next };
  },

  async backup(context) {
    const { allocator, signal } = context;
    await allocator.read(context, () => undefined, signal);
    return takeBackup(allocator.ledger, allocator.now, signal);
  },
};

async function issue(
  context: Context,
  body: InputOf<'issueOperatorCredential'>['body'],
  boundTo: { site: string; cluster: string } | undefined,
): Promise<AnswerOf<'issueOperatorCredential'>> {
  const { certificate, ...rest } = body;
  const minted =
    certificate === undefined
      ? mintToken()
      : { id: certificateId(certificate), hash: certificate, token: undefined };
  const { id, hash, token } = minted;
  const kind = certificate === undefined ? 'token' : 'certificate';
  const decide = issueCredential({ id, hash, kind, boundTo, ...rest });
  const credential = await change(context, keys.credential(id), decide);
  return { credential, ...(token === undefined ? {} : { token }) };
}
