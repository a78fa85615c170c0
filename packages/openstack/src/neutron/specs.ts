import type { Address, Family } from '@causeway/base/address/address';
import type { Prefix } from '@causeway/base/address/prefix';
import type { AddressPair, AddressRange } from './resources.ts';

/** Filters of every list. Tags: objects that have all of them. */
export interface CommonFilter {
  readonly name?: string;
  readonly description?: string;
  readonly projectId?: string;
  readonly tags?: readonly string[];
  readonly tagsAny?: readonly string[];
  readonly notTags?: readonly string[];
}

export interface NetworkFilter extends CommonFilter {
  readonly external?: boolean;
}

export interface NetworkChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly portSecurityEnabled?: boolean;
}

export interface NetworkSpec extends NetworkChange {
  readonly name: string;
  readonly projectId?: string;
  readonly shared?: boolean;
  readonly external?: boolean;
  /** Physical network, for administrators: `flat` with its name. */
  readonly physical?: {
    readonly type: string;
    readonly network: string;
    readonly segment?: number;
  };
}

export interface SubnetFilter extends CommonFilter {
  readonly networkId?: string;
  readonly family?: Family;
}

export interface SubnetChange {
  readonly name?: string;
  readonly description?: string;
  readonly gateway?: Address | null;
  readonly dhcp?: boolean;
  readonly allocationPools?: readonly AddressRange[];
}

export interface SubnetSpec extends SubnetChange {
  readonly name: string;
  readonly networkId: string;
  readonly cidr: Prefix;
  readonly projectId?: string;
}

export interface PortFilter extends CommonFilter {
  readonly networkId?: string;
  readonly deviceOwner?: string;
  readonly deviceId?: string;
  readonly macAddress?: string;
  readonly fixedIp?: { readonly address?: Address; readonly subnetId?: string };
}

export interface PortChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly fixedIps?: readonly FixedIpSpec[];
  readonly allowedAddressPairs?: readonly AddressPair[];
  /** If false, Neutron rejects security groups and address pairs. */
  readonly portSecurityEnabled?: boolean;
  readonly securityGroupIds?: readonly string[];
  readonly deviceOwner?: string;
  readonly deviceId?: string;
}

export interface PortSpec extends PortChange {
  readonly name: string;
  readonly networkId: string;
  readonly projectId?: string;
}

/** An address of the subnet (any if not given), or this address of the subnet that contains it. */
export type FixedIpSpec =
  | { readonly subnetId: string; readonly address?: Address }
  | { readonly subnetId?: never; readonly address: Address };

export interface FloatingIpFilter extends CommonFilter {
  readonly name?: never;
  readonly address?: Address;
  readonly floatingNetworkId?: string;
  readonly portId?: string;
  readonly status?: string;
}

export interface FloatingIpChange {
  readonly description?: string;
  /** `null` removes the address from its Neutron port. */
  readonly portId?: string | null;
  readonly fixedIp?: Address;
}

/** Floating IPs have no name: `description` identifies one. */
export interface FloatingIpSpec extends FloatingIpChange {
  readonly description: string;
  readonly floatingNetworkId: string;
  readonly subnetId?: string;
  /** A requested address; most clouds allow it to administrators only. */
  readonly address?: Address;
  readonly projectId?: string;
}

export type RouterFilter = CommonFilter;

export interface RouterChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly externalNetworkId?: string | null;
}

export interface RouterSpec extends RouterChange {
  readonly name: string;
  readonly projectId?: string;
}

export type SecurityGroupFilter = CommonFilter;

export interface SecurityGroupChange {
  readonly name?: string;
  readonly description?: string;
}

export interface SecurityGroupSpec extends SecurityGroupChange {
  readonly name: string;
  readonly projectId?: string;
}

export interface SecurityGroupRuleFilter {
  readonly projectId?: string;
  readonly securityGroupId?: string;
  readonly direction?: 'ingress' | 'egress';
}

export interface SecurityGroupRuleSpec {
  readonly securityGroupId: string;
  readonly direction: 'ingress' | 'egress';
  readonly family: Family;
  readonly protocol?: string;
  readonly portMin?: number;
  readonly portMax?: number;
  readonly remotePrefix?: Prefix;
  readonly remoteGroupId?: string;
  readonly description?: string;
  readonly projectId?: string;
}
