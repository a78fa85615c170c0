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
        'The rules of {{ $labels.instance }} were last as wanted {{ $value | humanizeDuration }} ago.',
      meaning: 'Services work on this node as they did then; pods that are gone are still sent to.',
      check: [
        '`curl -s localhost:10356/healthz` on the node (10256 in kube-proxy’s place).',
        'the proxy’s log: a transaction that is refused, or the API server away?',
      ],
      remedy: [
        'Refused: `nft list ruleset` for who else owns the table; `causeway doctor` on the node.',
        'Restart the pod; the rules stay meanwhile.',
      ],
      example: { 'causeway_proxy_last_sync_timestamp_seconds{instance="node-1"}': '0x30' },
      firesAt: '10m',
    },
    {
      name: 'CausewayProxyTransactionsRefused',
      severity: 'warning',
      expression: 'increase(causeway_proxy_sync_failures_total[10m]) > 3',
      summary: 'The kernel of {{ $labels.instance }} refuses rules again and again.',
      meaning:
        'The rules are older than they should be; see [CausewayProxyRulesOld](#causewayproxyrulesold).',
      check: ['The log names the element and the kernel’s reason.'],
      remedy: ['Most often a kernel without a module: `causeway doctor`.'],
      example: { 'causeway_proxy_sync_failures_total{instance="node-1"}': '0+1x20' },
      firesAt: '15m',
    },
    {
      name: 'CausewayProxyAddressLost',
      severity: 'warning',
      expression: 'increase(causeway_proxy_lost_addresses_total[1h]) > 0',
      for: '10m',
      summary: 'On {{ $labels.instance }} two Services ask for one address.',
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
      summary: 'Services that someone connects to do not wake ({{ $labels.outcome }}).',
      meaning: 'Clients of these Services wait in vain.',
      check: [
        '`kubectl get events -A --field-selector reason=WakeFailed`',
        '`causeway idle list -A`',
      ],
      remedy: [
        '`not-ready`: the pods don’t come up; look at them as at any others.',
        '`nothing-to-start`: what ran its pods was deleted; deploy it again, or delete the Service.',
        '`unreadable`: the annotation was edited; scale the workload by hand and remove the annotations.',
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
      summary: 'One waking in ten takes longer than a minute.',
      meaning: 'Clients with short time-outs give up before a pod is ready.',
      check: [
        'Pull times and readiness probes of the workloads concerned; free room on the nodes.',
      ],
      remedy: [
        'Keep images on the nodes; probe sooner; or don’t let such a Service sleep (remove `causeway.dev/idle-after`).',
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
