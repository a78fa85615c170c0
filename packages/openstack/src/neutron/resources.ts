import type { Address, Family } from '@causeway/base/address/address';
import type { Prefix } from '@causeway/base/address/prefix';

/** Fields of every Neutron object. */
interface Common {
  readonly id: string;
  readonly projectId: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export interface Network extends Common {
  readonly name: string;
  readonly adminStateUp: boolean;
  readonly status: string;
  readonly shared: boolean;
  /** Whether the network can provide floating IPs. */
  readonly external: boolean;
  readonly portSecurityEnabled: boolean;
  readonly mtu: number | undefined;
  readonly subnetIds: readonly string[];
}

export interface Subnet extends Common {
  readonly name: string;
  readonly networkId: string;
  readonly family: Family;
  readonly cidr: Prefix;
  readonly gateway: Address | undefined;
  readonly dhcp: boolean;
  readonly allocationPools: readonly AddressRange[];
}

export interface AddressRange {
  readonly start: Address;
  readonly end: Address;
}

export interface Port extends Common {
  readonly name: string;
  /** Increases with every change; old versions have none. */
  readonly revision?: number | undefined;
  readonly networkId: string;
  readonly adminStateUp: boolean;
  /** Stays DOWN if no agent or server uses the Neutron port; that is no failure. */
  readonly status: string;
  readonly macAddress: string;
  readonly deviceOwner: string;
  readonly deviceId: string;
  readonly fixedIps: readonly FixedIp[];
  readonly allowedAddressPairs: readonly AddressPair[];
  readonly portSecurityEnabled: boolean;
  readonly securityGroupIds: readonly string[];
}

export interface FixedIp {
  readonly subnetId: string;
  readonly address: Address;
}

/** A source address or network that the Neutron port may use beside its own addresses. */
export interface AddressPair {
  readonly prefix: Prefix;
  /** Defaults to the address of the Neutron port. */
  readonly macAddress?: string;
}

export interface FloatingIp extends Common {
  readonly address: Address;
  readonly floatingNetworkId: string;
  /** Stays DOWN without an L3 agent, even when associated: read `portId` instead. */
  readonly status: string;
  readonly portId: string | undefined;
  readonly fixedIp: Address | undefined;
  readonly routerId: string | undefined;
}

export interface Router extends Common {
  readonly name: string;
  readonly adminStateUp: boolean;
  readonly status: string;
  readonly externalNetworkId: string | undefined;
  readonly externalAddresses: readonly FixedIp[];
}

export interface SecurityGroup extends Common {
  readonly name: string;
  readonly rules: readonly SecurityGroupRule[];
}

export interface SecurityGroupRule {
  readonly id: string;
  readonly projectId: string;
  readonly description: string;
  readonly securityGroupId: string;
  readonly direction: 'ingress' | 'egress';
  readonly family: Family;
  /** A name such as tcp or a number; undefined means any. */
  readonly protocol: string | undefined;
  readonly portMin: number | undefined;
  readonly portMax: number | undefined;
  readonly remotePrefix: Prefix | undefined;
  readonly remoteGroupId: string | undefined;
}

/** Limits of a project; undefined means unlimited. */
export interface Quota {
  readonly networks: number | undefined;
  readonly subnets: number | undefined;
  readonly ports: number | undefined;
  readonly floatingIps: number | undefined;
  readonly routers: number | undefined;
  readonly securityGroups: number | undefined;
  readonly securityGroupRules: number | undefined;
}

export interface Extension {
  readonly alias: string;
  readonly name: string;
}
