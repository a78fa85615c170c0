/** Fields of every Neutron object. Rows have the wire format. */
export interface NeutronRow {
  readonly id: string;
  /** Empty for Neutron ports that Neutron created for itself. */
  readonly project_id: string;
  name: string;
  description: string;
  tags: string[];
  readonly created_at: string;
  updated_at: string;
  revision_number: number;
}

export interface NetworkRow extends NeutronRow {
  admin_state_up: boolean;
  shared: boolean;
  external: boolean;
  port_security_enabled: boolean;
  mtu: number;
  readonly network_type: string;
  readonly physical_network: string | null;
  readonly segmentation_id: number | null;
}

export interface SubnetRow extends NeutronRow {
  readonly network_id: string;
  readonly ip_version: 4 | 6;
  readonly cidr: string;
  gateway_ip: string | null;
  enable_dhcp: boolean;
  allocation_pools: readonly AllocationPool[];
  readonly ipv6_ra_mode: string | null;
  readonly ipv6_address_mode: string | null;
  dns_nameservers: readonly string[];
  host_routes: readonly unknown[];
}

export interface AllocationPool {
  readonly start: string;
  readonly end: string;
}

export interface PortRow extends NeutronRow {
  readonly network_id: string;
  readonly mac_address: string;
  admin_state_up: boolean;
  readonly status: string;
  device_id: string;
  device_owner: string;
  fixed_ips: readonly FixedIpRow[];
  allowed_address_pairs: readonly AddressPairRow[];
  security_groups: readonly string[];
  port_security_enabled: boolean;
  host_id: string;
}

export interface FixedIpRow {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export interface AddressPairRow {
  readonly mac_address: string;
  readonly ip_address: string;
}

export interface FloatingIpRow extends NeutronRow {
  readonly floating_ip_address: string;
  readonly floating_network_id: string;
  /** The Neutron port on the external network that has the address. */
  readonly own_port_id: string;
  port_id: string | null;
  fixed_ip_address: string | null;
  router_id: string | null;
}

export interface RouterRow extends NeutronRow {
  admin_state_up: boolean;
  gateway_port_id: string | null;
  enable_snat: boolean;
}

export interface SecurityGroupRow extends NeutronRow {
  readonly isDefault: boolean;
}

export interface SecurityGroupRuleRow extends NeutronRow {
  readonly security_group_id: string;
  readonly direction: 'ingress' | 'egress';
  readonly ethertype: 'IPv4' | 'IPv6';
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly normalized_cidr: string | null;
  readonly remote_group_id: string | null;
}
