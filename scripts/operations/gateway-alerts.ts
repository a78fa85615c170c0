import type { AlertGroup } from './alert.ts';

export const gatewayAlerts: AlertGroup = {
  name: 'gateway',
  title: 'Gateways',
  alerts: [
    {
      name: 'CausewayGatewayAlarm',
      severity: 'critical',
      expression: 'causeway_agent_alarm == 1',
      for: '1m',
      summary: 'Gateway {{ $labels.instance }} raises the alarm {{ $labels.alarm }}.',
      meaning:
        'The gateway has found a problem that it can’t fix itself. With `two-active` or `duplicate-address` some clients reach the wrong machine. With `cut-off`, `bad-health`, `link-down` or `addresses-missing` the gateway serves nothing, and the other one should have taken over. With `degraded` it keeps its applied state and accepts no changes. With `forged-adverts` a machine that is no peer sends VRRP adverts, and the gateway drops them. With `peers-unheard` a standby does not hear the active gateway on one network. With `removals-withheld` it applies all additions and changes, and still serves frontends with an unconfirmed removal. With `state-damaged` it found a damaged file at its start; with `state-not-stored` its disk accepts no writes. In both cases it serves.',
      check: [
        '`causeway agent status -c /etc/causeway/agent.yaml` on the gateway: the column ALARMS has the message.',
        '`journalctl -u causeway-agent -u causeway-keepalived` since the alarm began.',
      ],
      remedy: [
        '`two-active`: the gateways don’t get each other’s adverts. Let protocol 112 pass between them on both links; then one of them becomes standby.',
        '`forged-adverts`: the message names the source addresses of the dropped adverts. If one is a gateway of this set, its address is missing or mistyped: the message also names peers that were never heard. Add it to `peers4` or `peers6` of the interface that the adverts arrive on. If not, find the sender (`tcpdump -eni any proto 112`) and stop it; let only gateways send protocol 112 to gateways.',
        '`peers-unheard`: the active gateway sends its adverts to another address than this gateway’s. Correct `peers4` or `peers6` in the settings of the active gateway, or let protocol 112 pass on the network of the named peer. Otherwise both gateways become active when the other network fails.',
        '`duplicate-address`: the message names the other machine’s hardware address. Remove the address from that machine, or from `gateway.addresses`.',
        '`cut-off`: check the internal link, its VLAN and the nodes’ routes.',
        '`addresses-missing`: keepalived’s log says why it could not set them; `systemctl restart causeway-keepalived`.',
        '`degraded`: the log names the step that failed; most often another program changes the table `causeway`. The agent tries again every few seconds.',
        '`removals-withheld`: see the alert CausewayRemovalsWithheld.',
        '`state-damaged`: the message names the file, and the damaged content is beside it as `.damaged-N`. For `accepted`, wait for the controller’s update, within half a minute of the controller’s connection. For `overrides.json`, set the overrides again that you need (`causeway agent freeze`, `drain`), or clear one. Check the disk.',
        '`state-not-stored`: free space in the state directory, or make its file system writable. The agent stores its state within 10 seconds. Do not reboot the gateway before that.',
        '`link-down`: the message names the link. `ip link show`; check the cable, the switch port and the VLAN.',
        '`bad-health`: the message names the failed check. Fix that; then the gateway takes part again. If a route or an own address is missing, add it with `ip route` or `ip address` as the message names it, and make the machine’s network configuration persistent.',
      ],
      example: { 'causeway_agent_alarm{instance="gw1",alarm="two-active"}': '1x10' },
      firesAt: '5m',
    },
    {
      name: 'CausewayNoActiveGateway',
      severity: 'critical',
      expression: 'max by (job) (causeway_agent_role{role="active"}) == 0',
      for: '1m',
      summary: 'No gateway of {{ $labels.job }} is active: no machine answers for its addresses.',
      meaning: 'External clients get no answer on any address of this set of gateways.',
      check: [
        '`causeway agent status` on each gateway: role with its reason, overrides (drained?), alarms.',
        '`systemctl status causeway-keepalived` on each.',
      ],
      remedy: [
        'All drained: `causeway agent undrain` on one.',
        'keepalived is not running: `systemctl start causeway-keepalived`; its log names the error.',
        'All in bad health: fix what the alarm names; see [CausewayGatewayAlarm](#causewaygatewayalarm).',
      ],
      example: {
        'causeway_agent_role{job="gateways",instance="gw1",role="active"}': '0x10',
        'causeway_agent_role{job="gateways",instance="gw2",role="active"}': '0x10',
      },
      firesAt: '5m',
    },
    {
      name: 'CausewayKeepalivedRestarts',
      severity: 'warning',
      expression: 'increase(causeway_agent_keepalived_restarts_total[15m]) > 2',
      summary: 'keepalived on {{ $labels.instance }} ends repeatedly.',
      meaning:
        'Addresses move between the gateways each time; running connections survive in topology A only.',
      check: [
        '`journalctl -u causeway-keepalived`',
        '`dmesg` for the kernel’s out-of-memory killer.',
      ],
      remedy: [
        'Drain the gateway (`causeway agent drain`) so that addresses stop moving, then fix it.',
      ],
      example: { 'causeway_agent_keepalived_restarts_total{instance="gw1"}': '0+1x20' },
      firesAt: '15m',
    },
    {
      name: 'CausewayConnectionTableFull',
      severity: 'critical',
      expression: 'causeway_agent_connection_table_fill_ratio > 0.9',
      for: '5m',
      summary:
        'The connection table of {{ $labels.instance }} is {{ $value | humanizePercentage }} full.',
      meaning:
        'When it is full, the kernel drops the first packet of new connections; running ones continue.',
      check: [
        '`conntrack -C` and `sysctl net.netfilter.nf_conntrack_max`',
        '`conntrack -L | awk …` for one source that has most of them: an attack, or a client that never closes.',
      ],
      remedy: [
        'Raise `net.netfilter.nf_conntrack_max`: 320 bytes for each entry; see [conntrack sizing](../operations.md#connection-tables).',
        'Block the source with `loadBalancerSourceRanges`, or a rule of your own.',
      ],
      example: { 'causeway_agent_connection_table_fill_ratio{instance="gw1"}': '0.95x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayGatewayUnreachable',
      severity: 'critical',
      expression: 'causeway_gateway_reachable == 0',
      for: '5m',
      summary: 'The controller does not reach gateway {{ $labels.gateway }}.',
      meaning:
        'The gateway keeps its applied state; new and changed Services wait until all gateways have acknowledged them, and addresses of deleted ones are kept.',
      check: [
        '`causeway gateways list`',
        'from the controller’s node: `curl -k https://GATEWAY:15213/healthz`; the agent’s log for rejected requests (clock, secret, certificate).',
      ],
      remedy: [
        'The machine is gone permanently: remove it from `gateway.agents`, or `causeway gateways fence NAME`.',
        'Rejected: the secrets differ, or a clock is off by more than seconds.',
      ],
      example: { 'causeway_gateway_reachable{gateway="gw1"}': '0x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayGatewayBehind',
      severity: 'warning',
      expression: 'causeway_gateway_behind == 1',
      for: '10m',
      summary:
        'Gateway {{ $labels.gateway }} has not acknowledged the newest configuration for 10 minutes.',
      meaning: 'A failover to it would restore an old configuration.',
      check: ['`causeway gateways list`: frozen, rejecting, or not answering?', 'the agent’s log.'],
      remedy: [
        'Frozen (`causeway agent freeze` or `undo`): `causeway agent thaw` once the reason no longer applies.',
        'A mass removal: check whether it is intended, then confirm as the log says.',
      ],
      example: { 'causeway_gateway_behind{gateway="gw1"}': '1x20' },
      firesAt: '15m',
    },
    {
      name: 'CausewayDifferentSeeds',
      severity: 'warning',
      expression: 'causeway_gateway_different_seeds == 1',
      for: '5m',
      summary: 'Gateways have different seeds: a failover breaks running connections.',
      meaning:
        'The seed decides which backend a client is sent to. After a failover between gateways with different seeds, most running connections reach another backend and break.',
      check: ['`causeway gateways list` names the gateways of each seed.'],
      remedy: [
        'Copy the file of `seedFile` from the active gateway to the others, and restart their agents. Do not change the seed of the active gateway: that breaks its running connections.',
      ],
      example: { causeway_gateway_different_seeds: '1x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayGatewayFenced',
      severity: 'warning',
      expression: 'causeway_gateway_fenced == 1',
      for: '5m',
      summary: 'Gateway {{ $labels.gateway }} is fenced: it gets no addresses.',
      meaning: 'One gateway less; nothing is lost while another one serves.',
      check: ['`causeway gateways list` shows the reason and the time.'],
      remedy: ['When the machine works again: `causeway gateways unfence NAME`.'],
      example: { 'causeway_gateway_fenced{gateway="gw1"}': '1x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayRemovalsWithheld',
      severity: 'warning',
      expression: 'causeway_gateway_withheld_removals > 0',
      for: '5m',
      summary:
        'Gateway {{ $labels.gateway }} still serves {{ $value }} frontends with an unverified removal.',
      meaning:
        'An update contained a mass removal, and the gateway withholds the removals. The controller could not verify them: a Service of the API server or the record of addresses still has the address and port, or the API server belongs to another cluster, or has lost its data. Everything else is applied, and nothing is removed.',
      check: [
        '`causeway gateways list`: the column PROBLEMS names a frontend and the reason.',
        '`causeway agent status -o json` on the gateway lists all of them under `withheld`.',
      ],
      remedy: [
        'Wait, if the API server is being restored: the controller verifies again every 15 seconds.',
        'If the frontends are to be removed: `causeway agent allow-removal --reason …` on one gateway; the other gateways of the same cluster follow.',
      ],
      example: { 'causeway_gateway_withheld_removals{gateway="gw1"}': '25x20' },
      firesAt: '10m',
    },
    {
      name: 'CausewayGatewayRefusesEndpoints',
      severity: 'warning',
      expression: 'causeway_gateway_refused_frontends > 0',
      for: '15m',
      summary: 'Gateway {{ $labels.gateway }} rejects {{ $value }} frontends.',
      meaning:
        'The Services concerned are served in their previous state, or not at all; all others are not affected.',
      check: [
        '`kubectl get events -A --field-selector reason=GatewayRefused`',
        '`causeway agent status` names frontend and reason.',
      ],
      remedy: [
        'Fix the Service as its Event says. Agents and controllers of very different versions may disagree: update the agents.',
      ],
      example: { 'causeway_gateway_refused_frontends{gateway="gw1"}': '2x30' },
      firesAt: '20m',
    },
  ],
};
