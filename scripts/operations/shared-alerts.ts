import type { AlertGroup } from './alert.ts';

export const ipamAlerts: AlertGroup = {
  name: 'ipam',
  title: 'Shared allocator',
  alerts: [
    {
      name: 'CausewayIpamPoolAlmostExhausted',
      severity: 'warning',
      expression:
        'causeway_ipam_addresses{state="free"}\n  / ignoring(state) (causeway_ipam_addresses{state="total"} > 0) < 0.1\n  unless ignoring(state) causeway_ipam_addresses{state="drained"} > 0',
      for: '10m',
      summary:
        'Pool {{ $labels.pool }} of site {{ $labels.site }} has less than 10 % of its IPv{{ $labels.family }} addresses left.',
      meaning: 'New Services will soon get no address.',
      check: [
        '`causeway ipam pools list SITE`',
        '`causeway ipam clusters list SITE`: does one hold more than it should?',
      ],
      remedy: [
        'Add addresses with `causeway ipam pools set`. Leaks: `causeway pool check` in the cluster that holds them.',
      ],
      example: {
        'causeway_ipam_addresses{site="edge",pool="public",state="free"}': '1x30',
        'causeway_ipam_addresses{site="edge",pool="public",state="total"}': '32x30',
      },
      firesAt: '20m',
    },
    {
      name: 'CausewayIpamLedgerNotWritable',
      severity: 'critical',
      expression: 'causeway_ipam_ledger_writable == 0',
      for: '1m',
      summary: 'The ledger of {{ $labels.instance }} accepts no writes.',
      meaning:
        'Reads work, and existing Services keep their addresses. Reservations, releases and heartbeats fail with HTTP 507 or 403. All servers on the same etcd are affected, so they stay ready and answer with the cause.',
      check: [
        '`/readyz` of the server: the line `writes to the ledger` has the cause.',
        '`etcdctl alarm list` and `etcdctl endpoint status -w table`, or `df` for a SQLite ledger.',
      ],
      remedy: [
        'etcd without space: compact and defragment it, or raise `--quota-backend-bytes`; then `etcdctl alarm disarm`. A shorter `auditRetentionDays` needs less.',
        'A full disk: free space. The server notices within 5 seconds.',
      ],
      example: { 'causeway_ipam_ledger_writable{instance="ipam-1"}': '0x10' },
      firesAt: '5m',
    },
    {
      name: 'CausewayIpamLedgerPutBack',
      severity: 'critical',
      expression: 'increase(causeway_ipam_ledger_put_back_total[1h]) > 0',
      summary: 'The ledger of {{ $labels.instance }} was put back to an earlier state.',
      meaning:
        'The ledger lost the changes since a backup. Its sites are recovering: they assign no new addresses, and clusters confirm the addresses that they use.',
      check: [
        '`causeway ipam sites list`: which sites are recovering?',
        'Why was the ledger restored?',
      ],
      remedy: [
        'When every cluster of a site has reported, run `causeway pool check --repair` with each cluster and `causeway ipam sites resume SITE`.',
      ],
      example: { 'causeway_ipam_ledger_put_back_total{instance="ipam-1"}': '0 0 1x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayIpamRequestsRefused',
      severity: 'critical',
      expression:
        'sum by (reason) (increase(causeway_ipam_refusals_total{reason=~"pool-exhausted|quota"}[10m])) > 0',
      for: '10m',
      summary: 'Services get no address ({{ $labels.reason }}).',
      meaning: 'New Services stay without an address; existing ones keep theirs.',
      check: ['The Events of the Services; `causeway ipam pools list SITE`.'],
      remedy: [
        'Add addresses or raise the quota; addresses in quarantine become free without further action.',
      ],
      example: { 'causeway_ipam_refusals_total{reason="pool-exhausted"}': '0+1x40' },
      firesAt: '25m',
    },
    {
      name: 'CausewayIpamRequestsWaiting',
      severity: 'warning',
      expression: 'min_over_time(causeway_ipam_waiting_requests[15m]) > 0',
      summary: 'Requests of site {{ $labels.site }} have waited for an address for 15 minutes.',
      meaning: 'As above, for requests that wait.',
      check: ['`causeway ipam pools list SITE`: free, held, resting.'],
      remedy: ['Add addresses to a pool of the site.'],
      example: { 'causeway_ipam_waiting_requests{site="edge"}': '1x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayIpamClusterLost',
      severity: 'warning',
      expression: 'causeway_ipam_clusters{health="lost"} > 0',
      for: '5m',
      summary: 'A cluster of site {{ $labels.site }} sends no heartbeats. It keeps its addresses.',
      meaning: 'Its clients are not affected. Its addresses can’t be assigned to other clusters.',
      check: [
        '`causeway ipam clusters list SITE` shows the cluster and the time; its controller’s log.',
      ],
      remedy: [
        'Find out whether it still announces them; if it is gone permanently, `causeway ipam clusters reclaim`.',
      ],
      example: { 'causeway_ipam_clusters{site="edge",health="lost"}': '1x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayIpamSlow',
      severity: 'warning',
      expression:
        'histogram_quantile(0.99, sum by (le) (rate(causeway_ipam_change_duration_seconds_bucket[5m]))) > 2',
      for: '10m',
      summary: 'One change in a hundred takes longer than 2 s.',
      meaning: 'Addresses are assigned late; none is assigned twice.',
      check: ['`causeway_ipam_conflicts_total`; the ledger’s disk, or etcd’s leader and network.'],
      remedy: ['SQLite: a faster disk. etcd: as its own alerts say.'],
      example: {
        'causeway_ipam_change_duration_seconds_bucket{le="2"}': '0x40',
        'causeway_ipam_change_duration_seconds_bucket{le="5"}': '0+10x40',
        'causeway_ipam_change_duration_seconds_bucket{le="+Inf"}': '0+10x40',
      },
      firesAt: '25m',
    },
  ],
};

export const discoveryAlerts: AlertGroup = {
  name: 'discovery',
  title: 'Discovery',
  alerts: [
    {
      name: 'CausewayDiscoveryBackendDown',
      severity: 'critical',
      expression: 'causeway_discovery_backend_up == 0',
      for: '10m',
      summary: 'Backend {{ $labels.backend }} can’t be read. Its Services stay as they are.',
      meaning: 'Changes of load balancers in the cloud are not seen.',
      check: ['The log says whether the credentials are rejected or the cloud is unreachable.'],
      remedy: ['Correct the Secret, or check Keystone. No restart is needed.'],
      example: { 'causeway_discovery_backend_up{backend="east"}': '0x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayDiscoveryStale',
      severity: 'critical',
      expression: 'time() - causeway_discovery_last_success_timestamp_seconds > 900',
      summary: 'Backend {{ $labels.backend }} was last read more than 15 minutes ago.',
      meaning: 'As above.',
      check: ['`/readyz` and the log; `causeway_discovery_cycle_duration_seconds`.'],
      remedy: ['A cycle that takes this long needs more `workers`, or fewer projects.'],
      example: { 'causeway_discovery_last_success_timestamp_seconds{backend="east"}': '0x40' },
      firesAt: '20m',
    },
    {
      name: 'CausewayDiscoveryProjectsFail',
      severity: 'warning',
      expression: 'causeway_discovery_projects{state="failed"} > 0',
      for: '30m',
      summary:
        '{{ $value }} projects of backend {{ $labels.backend }} can’t be read. Their Services stay unchanged.',
      meaning: 'Services of these projects stay in their last state.',
      check: ['`kubectl get events -A --field-selector reason=ProjectFailed` names them.'],
      remedy: ['Give the user a role there, or leave them out with `ignoreProjects`.'],
      example: { 'causeway_discovery_projects{backend="east",state="failed"}': '2x60' },
      firesAt: '40m',
    },
    {
      name: 'CausewayDiscoveryDeletionsHeld',
      severity: 'warning',
      expression: 'causeway_discovery_held_load_balancers > 0',
      for: '10m',
      summary:
        '{{ $value }} load balancers of backend {{ $labels.backend }} seem to be deleted, but cycles do not agree.',
      meaning: 'Their Services stay until three cycles agree or an operator confirms.',
      check: ['Check the cloud: are they deleted?'],
      remedy: ['If the cloud is right: `causeway discover --once --confirm`.'],
      example: { 'causeway_discovery_held_load_balancers{backend="east"}': '2x30' },
      firesAt: '20m',
    },
  ],
};
