import type { AlertGroup } from './alert.ts';

export const nodeAlerts: AlertGroup = {
  name: 'node',
  title: 'Node proxy and idling',
  alerts: [
    {
      name: 'CausewayProxyRulesOld',
      severity: 'critical',
      expression: 'time() - causeway_proxy_last_sync_timestamp_seconds > 300',
      for: '2m',
      summary:
        'The rules of {{ $labels.instance }} were last up to date {{ $value | humanizeDuration }} ago.',
      meaning: 'Services work on this node in their old state; deleted pods still get connections.',
      check: [
        '`curl -s localhost:10356/healthz` on the node (10256 in place of kube-proxy).',
        'the proxy’s log: is a transaction rejected, or the API server unreachable?',
      ],
      remedy: [
        'Rejected: `nft list ruleset` shows the owner of the table; `causeway doctor` on the node.',
        'Restart the pod; the rules stay in the meantime.',
      ],
      example: { 'causeway_proxy_last_sync_timestamp_seconds{instance="node-1"}': '0x30' },
      firesAt: '10m',
    },
    {
      name: 'CausewayProxyTransactionsRefused',
      severity: 'warning',
      expression: 'increase(causeway_proxy_sync_failures_total[10m]) > 3',
      summary: 'The kernel of {{ $labels.instance }} rejects rules repeatedly.',
      meaning: 'The rules are outdated; see [CausewayProxyRulesOld](#causewayproxyrulesold).',
      check: ['The log names the element and the kernel’s reason.'],
      remedy: ['The most frequent cause is a kernel without a module: `causeway doctor`.'],
      example: { 'causeway_proxy_sync_failures_total{instance="node-1"}': '0+1x20' },
      firesAt: '15m',
    },
    {
      name: 'CausewayProxyAddressLost',
      severity: 'warning',
      expression: 'increase(causeway_proxy_lost_addresses_total[1h]) > 0',
      for: '10m',
      summary: 'On {{ $labels.instance }} two Services request the same address.',
      meaning: 'The older one has it; the other is not served there.',
      check: ['The log names both.'],
      remedy: ['Give one of them another `externalIPs` or `loadBalancerIP`.'],
      example: { 'causeway_proxy_lost_addresses_total{instance="node-1"}': '0 0 1 1x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayWakesFail',
      severity: 'critical',
      expression:
        'sum by (outcome) (increase(causeway_idling_wakes_total{outcome!="woken"}[15m])) > 0',
      summary: 'Services with waiting connections do not wake ({{ $labels.outcome }}).',
      meaning: 'Clients of these Services wait until their timeout.',
      check: [
        '`kubectl get events -A --field-selector reason=WakeFailed`',
        '`causeway idle list -A`',
      ],
      remedy: [
        '`not-ready`: the pods don’t become ready; check them like any others.',
        '`nothing-to-start`: the workload of its pods was deleted; deploy it again, or delete the Service.',
        '`unreadable`: the annotation was edited; scale the workload manually and remove the annotations.',
      ],
      example: { 'causeway_idling_wakes_total{outcome="not-ready"}': '0 0 1 1x30' },
      firesAt: '10m',
    },
    {
      name: 'CausewayColdStartsSlow',
      severity: 'warning',
      expression:
        'histogram_quantile(0.9, sum by (le) (rate(causeway_idling_cold_start_seconds_bucket[1h]))) > 60',
      for: '10m',
      summary: 'One wake in ten takes longer than a minute.',
      meaning: 'Clients with short timeouts give up before a pod is ready.',
      check: [
        'Pull times and readiness probes of the workloads concerned; free capacity on the nodes.',
      ],
      remedy: [
        'Keep images on the nodes; probe sooner; or don’t idle such a Service (remove `causeway.dev/idle-after`).',
      ],
      example: {
        'causeway_idling_cold_start_seconds_bucket{le="60"}': '0x90',
        'causeway_idling_cold_start_seconds_bucket{le="120"}': '0+1x90',
        'causeway_idling_cold_start_seconds_bucket{le="+Inf"}': '0+1x90',
      },
      firesAt: '80m',
    },
  ],
};
