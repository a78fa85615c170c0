export type ProvisioningStatus =
  | 'ACTIVE'
  | 'ERROR'
  | 'PENDING_CREATE'
  | 'PENDING_UPDATE'
  | 'PENDING_DELETE';

export type OperatingStatus =
  | 'ONLINE'
  | 'OFFLINE'
  | 'DEGRADED'
  | 'ERROR'
  | 'NO_MONITOR'
  | 'DRAINING';

/** Fields of every load balancing object. */
export interface OctaviaRow {
  readonly id: string;
  name: string;
  readonly project_id: string;
  admin_state_up: boolean;
  provisioning_status: ProvisioningStatus;
  operating_status: OperatingStatus;
  tags: readonly string[];
  readonly created_at: string;
  updated_at: string | null;
}

/** A second address on the same Neutron port, from another subnet of the same network. */
export interface AdditionalVip {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export interface LoadBalancerRow extends OctaviaRow {
  description: string;
  readonly provider: string;
  readonly flavor_id: string | null;
  readonly availability_zone: string | null;
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string;
  readonly vip_network_id: string;
  readonly additional_vips: readonly AdditionalVip[];
  vip_qos_policy_id: string | null;
  /** The Neutron port was created for this load balancer and is deleted with it. */
  readonly ownsPort: boolean;
  /** Neutron ports and security groups that Octavia created for itself. */
  readonly neutronIds: { readonly ports: readonly string[]; readonly groups: readonly string[] };
}

export interface ListenerRow extends OctaviaRow {
  readonly loadbalancer_id: string;
  description: string;
  readonly protocol: string;
  readonly protocol_port: number;
  default_pool_id: string | null;
  connection_limit: number;
  timeout_client_data: number;
  timeout_member_connect: number;
  timeout_member_data: number;
  timeout_tcp_inspect: number;
  insert_headers: Readonly<Record<string, string>>;
  allowed_cidrs: readonly string[] | null;
  default_tls_container_ref: string | null;
  sni_container_refs: readonly string[];
}

export interface PoolRow extends OctaviaRow {
  readonly loadbalancer_id: string;
  description: string;
  readonly protocol: string;
  lb_algorithm: string;
  session_persistence: Readonly<Record<string, unknown>> | null;
  tls_enabled: boolean;
}

export interface MemberRow extends OctaviaRow {
  readonly pool_id: string;
  readonly address: string;
  readonly protocol_port: number;
  weight: number;
  backup: boolean;
  readonly subnet_id: string | null;
  monitor_address: string | null;
  monitor_port: number | null;
}

export interface HealthMonitorRow extends OctaviaRow {
  readonly pool_id: string;
  readonly type: string;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  http_method: string | null;
  url_path: string | null;
  expected_codes: string | null;
  http_version: number | null;
  domain_name: string | null;
}
