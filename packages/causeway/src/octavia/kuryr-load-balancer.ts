import type { Protocol } from '@causeway/base/address/port';
import type { Condition, KubeObject } from '@causeway/kubernetes/objects/object';
import { defineResource } from '@causeway/kubernetes/objects/resource';

// Kuryr's resource, with Kuryr's spelling. Causeway's additions are in `spec.options`, `status.version` and
// `status.conditions`.

export interface KlbPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: Protocol;
  readonly targetPort: string;
  /** Added by Causeway: the port of members that are nodes. */
  readonly nodePort?: number;
}

export interface KlbEndpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
  readonly hostname?: string;
  readonly targetRef?: {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly uid?: string;
  };
}

export interface KlbEndpointSlice {
  readonly endpoints?: readonly KlbEndpoint[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly port?: number;
    readonly protocol?: string;
  }[];
}

/** How members are checked, in seconds. */
export interface KlbHealthMonitor {
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number;
  /** The node port for `/healthz`, where traffic stays on the nodes with endpoints. */
  readonly node_port?: number;
}

/** Options that Kuryr did not have. Most come from OCCM's annotations. */
export interface KlbOptions {
  readonly member_mode?: 'Pod' | 'NodePort';
  readonly member_subnet_id?: string;
  readonly node_selector?: string;
  readonly additional_vips?: readonly { readonly subnet_id: string; readonly ip?: string }[];
  readonly network_id?: string;
  readonly vip_port_id?: string;
  /** An existing load balancer, which stays after the deletion of the Service. */
  readonly loadbalancer_id?: string;
  readonly internal?: boolean;
  readonly hostname?: string;
  readonly floating_network_id?: string;
  readonly floating_subnet_id?: string;
  /** The name of a subnet, a pattern with `*`, or a regular expression after `~`; `!` negates it. */
  readonly floating_subnet?: string;
  readonly floating_subnet_tags?: string;
  readonly keep_floating_ip?: boolean;
  readonly algorithm?: string;
  readonly allowed_cidrs?: readonly string[];
  readonly connection_limit?: number;
  readonly proxy_protocol?: 'PROXY' | 'PROXYV2';
  readonly x_forwarded_for?: boolean;
  readonly tls_container_ref?: string;
  readonly timeout_member_connect?: number;
  readonly timeout_tcp_inspect?: number;
  readonly flavor_id?: string;
  readonly availability_zone?: string;
  readonly session_affinity?: boolean;
  readonly health_monitor?: KlbHealthMonitor;
}

export interface KlbSpec {
  readonly type?: string;
  /** The internal address: the cluster IP if that is the VIP. */
  readonly ip?: string;
  /** The external address that the user requests. */
  readonly lb_ip?: string;
  readonly ports?: readonly KlbPort[];
  readonly endpointSlices?: readonly KlbEndpointSlice[];
  readonly project_id?: string;
  readonly subnet_id?: string;
  readonly security_groups_ids?: readonly string[];
  readonly provider?: string;
  readonly timeout_client_data?: number;
  readonly timeout_member_data?: number;
  readonly options?: KlbOptions;
}

export interface KlbStatusBalancer {
  readonly id: string;
  readonly ip: string;
  readonly name: string;
  readonly port_id: string;
  readonly project_id: string;
  readonly provider: string;
  readonly security_groups: readonly string[];
  readonly subnet_id: string;
  /** Added by Causeway: the user named it, so the controller neither marks nor deletes it. */
  readonly given?: boolean;
}

export interface KlbStatusListener {
  readonly id: string;
  readonly loadbalancer_id: string;
  readonly name: string;
  readonly port: number;
  readonly project_id: string;
  readonly protocol: string;
  readonly timeout_client_data?: number;
  readonly timeout_member_connect?: number;
  readonly timeout_member_data?: number;
  readonly timeout_tcp_inspect?: number;
}

export interface KlbStatusPool {
  readonly id: string;
  readonly listener_id: string;
  readonly loadbalancer_id: string;
  readonly name: string;
  readonly project_id: string;
  readonly protocol: string;
}

export interface KlbStatusMember {
  readonly id: string;
  readonly ip: string;
  readonly name: string;
  readonly pool_id: string;
  readonly port: number;
  readonly project_id: string;
  readonly subnet_id: string;
}

/**
 * `user`: it existed before and stays; `pool`: the controller allocated it and releases it; `shared`: it was
 * on the load balancer before.
 */
export interface KlbPublicIp {
  readonly ip_id: string;
  readonly ip_addr: string;
  readonly alloc_method: 'user' | 'pool' | 'shared';
}

export interface KlbStatus {
  readonly version?: number;
  readonly loadbalancer?: KlbStatusBalancer;
  readonly listeners?: readonly KlbStatusListener[];
  readonly pools?: readonly KlbStatusPool[];
  readonly members?: readonly KlbStatusMember[];
  /** Added by Causeway: the number of members that don't fit into the object. */
  readonly members_left_out?: number;
  readonly service_pub_ip_info?: KlbPublicIp;
  readonly conditions?: readonly Condition[];
}

export interface KuryrLoadBalancer extends KubeObject {
  readonly spec?: KlbSpec;
  readonly status?: KlbStatus;
}

export const kuryrLoadBalancers = defineResource<KuryrLoadBalancer>({
  group: 'openstack.org',
  version: 'v1',
  plural: 'kuryrloadbalancers',
  kind: 'KuryrLoadBalancer',
  namespaced: true,
});

/** The finalizer of Services with a load balancer. Kuryr put it on Endpoints as well. */
export const serviceFinalizer = 'kuryr.openstack.org/service-finalizer';
export const klbFinalizer = 'kuryr.openstack.org/kuryrloadbalancer-finalizers';

/** The version of the status format. */
export const statusVersion = 1;

/** The UID of the Service that owns it; undefined if endpoints created it, or if it lost its owner. */
export function ownerUid(klb: KuryrLoadBalancer): string | undefined {
  return klb.metadata?.ownerReferences?.find(({ kind }) => kind === 'Service')?.uid;
}
