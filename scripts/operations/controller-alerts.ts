import type { AlertGroup } from './alert.ts';

export const controllerAlerts: AlertGroup = {
  name: 'controller',
  title: 'Controller, and all jobs',
  alerts: [
    {
      name: 'CausewayNoLeader',
      severity: 'critical',
      expression: 'max by (lease) (causeway_leader) == 0',
      for: '2m',
      summary: 'No process holds the lease {{ $labels.lease }}.',
      meaning:
        'Existing Services stay served. New Services get no address, deleted ones are not cleaned up, idle ones are not woken.',
      check: [
        '`kubectl get pods -n causeway-system`: do the replicas run?',
        '`kubectl get lease -n causeway-system -o yaml`: the last holder, and when it last renewed.',
        'their logs: is the API server unreachable, or the permission on leases missing?',
      ],
      remedy: [
        'The API server is slow or unreachable: fix that first; then a replica becomes the leader without further action.',
        'Permissions were changed: apply the manifests of this version again.',
      ],
      example: {
        'causeway_leader{lease="causeway-system/causeway-controller",pod="a"}': '0x10',
        'causeway_leader{lease="causeway-system/causeway-controller",pod="b"}': '0x10',
      },
      firesAt: '5m',
    },
    {
      name: 'CausewayServicesNotServed',
      severity: 'critical',
      expression:
        'max by (state, cause) (causeway_services{state=~"not-served|unknown",cause!="no-provider"}) > 0',
      for: '2m',
      summary:
        '{{ $value }} Services are in the state {{ $labels.state }}, cause {{ $labels.cause }}.',
      meaning:
        'Clients of these Services get no answer, or Causeway does not know whether they do. The count needs `dashboard.enabled`.',
      check: [
        '`causeway status`: the causes in their order, with ages and remedies.',
        '`causeway explain NAMESPACE/NAME`: the whole chain of one Service.',
      ],
      remedy: [
        'Follow the remedy of the first cause; later causes are often its effects. [health.md](../health.md) describes states and causes.',
      ],
      example: {
        'causeway_services{state="not-served",cause="no-active-gateway",pod="a"}': '7x10',
      },
      firesAt: '5m',
    },
    {
      name: 'CausewayServicesDegraded',
      severity: 'warning',
      expression: 'max by (state, cause) (causeway_services{state=~"degraded|no-endpoints"}) > 0',
      for: '15m',
      summary:
        '{{ $value }} Services are in the state {{ $labels.state }}, cause {{ $labels.cause }}.',
      meaning:
        'With `degraded`, clients get an answer, but redundancy, a change or an address family is missing. With `no-endpoints`, connections are refused because no pod is ready.',
      check: ['`causeway services --state degraded -o wide`, and the same with `no-endpoints`.'],
      remedy: [
        '`no-redundancy`: repair the gateways that can’t take over, before the last one fails.',
        '`unconfirmed`: see the log of the agent; it may be paused, or reject updates.',
        '`no-endpoints`: find out why the pods are not ready, or idle the Service.',
      ],
      example: { 'causeway_services{state="degraded",cause="no-redundancy",pod="a"}': '3x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayServicesPending',
      severity: 'warning',
      expression: 'max by (state, cause) (causeway_services{state="pending"}) > 0',
      for: '15m',
      summary: '{{ $value }} Services have waited for an address for 15 minutes.',
      meaning: 'New Services get no address; served ones are not affected.',
      check: ['`causeway services --state pending -o wide`: the message names the obstacle.'],
      remedy: [
        'Gateways do not answer: see [CausewayGatewayUnreachable](#causewaygatewayunreachable). The cloud refuses: see [CausewayOpenStackFails](#causewayopenstackfails).',
      ],
      example: { 'causeway_services{state="pending",cause="pending",pod="a"}': '2x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayGuardHolds',
      severity: 'warning',
      expression: 'causeway_guard_held > 0',
      for: '1m',
      summary:
        'The guard for {{ $labels.guard }} of {{ $labels.instance }} keeps {{ $value }} objects in use.',
      meaning:
        'Nodes, endpoints or addresses were lost in a way that is more likely a failure of the control plane or a mistake. They stay in use.',
      check: [
        '`causeway status`: the line of the guard names the objects.',
        '`kubectl get nodes`: do the kubelets reach the API server?',
        '`gateway.addresses` in the configuration: did a range drop out?',
      ],
      remedy: [
        'Fix the connection between kubelets and API server, or restore the list of addresses. The guard then ends without further action.',
      ],
      example: { 'causeway_guard_held{instance="a",guard="nodes"}': '3x10' },
      firesAt: '3m',
    },
    {
      name: 'CausewayWatchBroken',
      severity: 'warning',
      expression: 'causeway_kube_store_synced == 0',
      for: '5m',
      summary:
        '{{ $labels.instance }} does not follow {{ $labels.resource }} of the Kubernetes API.',
      meaning: 'It works with its last known state; changes are not seen.',
      check: [
        '`/readyz` of the process names the resource and the reason.',
        '`kubectl auth can-i watch RESOURCE --as=system:serviceaccount:NAMESPACE:NAME`',
      ],
      remedy: [
        'Forbidden: apply the manifests of this version again. Not found: a custom resource definition is missing (`deploy/kustomize/crds`). Otherwise check the API server.',
      ],
      example: { 'causeway_kube_store_synced{instance="a",resource="services"}': '0x10' },
      firesAt: '8m',
    },
    {
      name: 'CausewayQueueStuck',
      severity: 'warning',
      expression: 'min_over_time(causeway_queue_depth[15m]) > 50',
      summary:
        'More than 50 keys have waited in {{ $labels.controller }} of {{ $labels.instance }} for 15 minutes.',
      meaning: 'Changes take long to have an effect.',
      check: [
        '`causeway_reconcile_duration_seconds` by outcome: slow, or failing?',
        '`causeway_openstack_request_duration_seconds`: is it the cloud?',
      ],
      remedy: [
        'Slow outside services: raise `workers`, or fix them. Failing: the log names the error.',
      ],
      example: { 'causeway_queue_depth{instance="a",controller="services"}': '80x30' },
      firesAt: '20m',
    },
    {
      name: 'CausewayReconcileFails',
      severity: 'warning',
      expression: 'rate(causeway_reconcile_retries_total[10m]) > 0.2',
      for: '15m',
      summary: '{{ $labels.controller }} of {{ $labels.instance }} fails repeatedly.',
      meaning:
        'Some Services are not in their desired state; their conditions and Events name the reason.',
      check: ['`causeway services` and `causeway explain SERVICE`', 'the log, by `controller`.'],
      remedy: [
        'Follow the Event. If all fail alike, the cause is common: the cloud, the ledger or the gateways.',
      ],
      example: {
        'causeway_reconcile_retries_total{instance="a",controller="services"}': '0+60x40',
      },
      firesAt: '35m',
    },
    {
      name: 'CausewayOpenStackFails',
      severity: 'warning',
      expression:
        'sum by (service) (rate(causeway_openstack_requests_total{status=~"5..|none"}[10m]))\n  / sum by (service) (rate(causeway_openstack_requests_total[10m])) > 0.1',
      for: '10m',
      summary: 'More than a tenth of the requests to {{ $labels.service }} fail.',
      meaning: 'Existing Services stay served; changes are retried until the service answers.',
      check: ['The service’s own log, by the request IDs in Causeway’s log.'],
      remedy: ['Fix the service. No restart of Causeway is needed.'],
      example: {
        'causeway_openstack_requests_total{service="octavia",status="503"}': '0+60x40',
        'causeway_openstack_requests_total{service="octavia",status="200"}': '0+60x40',
      },
      firesAt: '30m',
    },
    {
      name: 'CausewayCredentialsRefused',
      severity: 'critical',
      expression:
        'increase(causeway_openstack_tokens_total{outcome="invalid-credentials"}[10m]) > 0',
      for: '2m',
      summary: 'Keystone rejects the credentials of {{ $labels.instance }}.',
      meaning: 'Nothing can be changed in OpenStack; existing Services stay served.',
      check: ['`openstack --os-cloud NAME token issue` with the same clouds.yaml.'],
      remedy: [
        'Put the new password or application credential into the Secret. It is read again before the next token; no restart.',
      ],
      example: {
        'causeway_openstack_tokens_total{instance="a",outcome="invalid-credentials"}': '0+1x20',
      },
      firesAt: '10m',
    },
    {
      name: 'CausewayPoolFindings',
      severity: 'warning',
      expression: 'causeway_pool_findings > 0',
      for: '30m',
      summary: 'Cluster and ledger do not agree on {{ $value }} Services ({{ $labels.kind }}).',
      meaning:
        '`not-in-ledger` and `other-address`: the address may be assigned to another Service. `leaked`: an unused address stays reserved.',
      check: ['`causeway pool check`'],
      remedy: [
        '`causeway pool check --repair` repairs the safe cases, and prints what to do about the rest.',
      ],
      example: { 'causeway_pool_findings{kind="leaked"}': '1x60' },
      firesAt: '40m',
    },
    {
      name: 'CausewayProcessSlow',
      severity: 'warning',
      expression: 'causeway_event_loop_delay_seconds{quantile="0.99"} > 0.5',
      for: '10m',
      summary: '{{ $labels.instance }} runs its timers {{ $value | humanizeDuration }} late.',
      meaning: 'Leases may be lost and health checks answered late.',
      check: ['CPU limits and throttling of the pod; the node’s load.'],
      remedy: ['Raise or remove the CPU limit; move the pod.'],
      example: { 'causeway_event_loop_delay_seconds{instance="a",quantile="0.99"}': '0.9x20' },
      firesAt: '15m',
    },
    {
      name: 'CausewayOrphansHeld',
      severity: 'warning',
      expression: 'sum by (provider, kind) (causeway_orphans) > 0',
      for: '15m',
      summary:
        '{{ $labels.provider }} keeps {{ $value }} objects of the kind {{ $labels.kind }} that no Service uses.',
      meaning:
        'The objects have a mark of this cluster, and the cluster has no record that it released them. They cost quota and keep their addresses. Causeway deletes none of them automatically.',
      check: [
        '`causeway orphans list`: the objects, and the Service that each mark names.',
        '`kubectl describe configmap causeway-orphans -n causeway-system`: the Events.',
        'Was etcd restored from a backup, or does another cluster use the same `clusterId`?',
      ],
      remedy: [
        'A Service is missing: create it again. On Octavia it gets its load balancer back; on gateways it does with `causeway.dev/address`.',
        'Nothing needs the objects: `causeway orphans delete ID --yes`.',
      ],
      example: { 'causeway_orphans{provider="octavia",kind="load-balancer"}': '2x40' },
      firesAt: '20m',
    },
    {
      name: 'CausewayClusterIdShared',
      severity: 'critical',
      expression: 'max by (provider) (causeway_cluster_id_conflicts) > 0',
      for: '5m',
      summary: 'Another cluster uses the same clusterId in the cloud project.',
      meaning:
        'Causeway distinguishes the objects of the two clusters by the UID in their marks and changes only its own. A Causeway 0.1.0 in the other cluster does not, and deletes them.',
      check: [
        '`causeway status` shows the UID of the other cluster.',
        '`kubectl get namespace kube-system -o jsonpath={.metadata.uid}` in each cluster.',
      ],
      remedy: [
        'Upgrade both clusters. Leave `clusterId` out in new clusters, or give each cluster its own.',
      ],
      example: { 'causeway_cluster_id_conflicts{provider="octavia"}': '1x20' },
      firesAt: '10m',
    },
  ],
};
