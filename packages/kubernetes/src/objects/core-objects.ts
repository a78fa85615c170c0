import type { Condition, IntOrString, KubeObject, ObjectReference, StringMap } from './object.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type IpFamily = 'IPv4' | 'IPv6';

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: {
    readonly phase?: 'Active' | 'Terminating';
    readonly conditions?: readonly Condition[];
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly appProtocol?: string;
  readonly port: number;
  readonly targetPort?: IntOrString;
  readonly nodePort?: number;
}

export interface ServiceSpec {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  readonly selector?: StringMap;
  readonly ports?: readonly ServicePort[];
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly externalName?: string;
  readonly ipFamilies?: readonly IpFamily[];
  readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
  readonly loadBalancerIP?: string;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  readonly internalTrafficPolicy?: 'Cluster' | 'Local';
  readonly healthCheckNodePort?: number;
  readonly publishNotReadyAddresses?: boolean;
  readonly sessionAffinity?: 'None' | 'ClientIP';
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly trafficDistribution?: string;
}

export interface LoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: 'VIP' | 'Proxy';
  readonly ports?: readonly {
    readonly port: number;
    readonly protocol: Protocol;
    readonly error?: string;
  }[];
}

export interface ServiceStatus {
  readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] };
  readonly conditions?: readonly Condition[];
}

export interface Service extends KubeObject {
  readonly spec?: ServiceSpec;
  readonly status?: ServiceStatus;
}

export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly port: number;
    readonly protocol?: Protocol;
    readonly appProtocol?: string;
  }[];
}

export interface Endpoints extends KubeObject {
  readonly subsets?: readonly EndpointSubset[];
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<Record<string, unknown>>;
}

export interface Probe {
  readonly httpGet?: {
    readonly path?: string;
    readonly port: IntOrString;
    readonly host?: string;
    readonly scheme?: string;
  };
  readonly tcpSocket?: { readonly port: IntOrString; readonly host?: string };
  readonly exec?: { readonly command?: readonly string[] };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly containerPort: number;
    readonly hostPort?: number;
    readonly hostIP?: string;
    readonly protocol?: Protocol;
  }[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly resources?: {
    readonly limits?: StringMap;
    readonly requests?: StringMap;
  };
}

export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly serviceAccountName?: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly nodeSelector?: StringMap;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly conditions?: readonly Condition[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: string;
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly restartCount: number;
    readonly image?: string;
    readonly imageID?: string;
    readonly containerID?: string;
    readonly started?: boolean;
    readonly state?: Readonly<Record<string, unknown>>;
  }[];
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

export interface PodTemplateSpec {
  readonly metadata?: KubeObject['metadata'];
  readonly spec?: PodSpec;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
  };
  readonly status?: {
    readonly addresses?: readonly {
      readonly type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
      readonly address: string;
    }[];
    readonly conditions?: readonly Condition[];
    readonly capacity?: StringMap;
    readonly allocatable?: StringMap;
    readonly nodeInfo?: StringMap;
  };
}

/** The values of `data` are base64; `stringData` is write-only. Neither belongs in a log. */
export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: StringMap;
  readonly stringData?: StringMap;
  readonly immutable?: boolean;
}

export interface ConfigMap extends KubeObject {
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}

export interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly ObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}

export interface Event extends KubeObject {
  readonly involvedObject?: ObjectReference;
  readonly related?: ObjectReference;
  readonly type?: string;
  readonly reason?: string;
  readonly action?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}
