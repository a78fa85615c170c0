import { stringify } from 'yaml';
import { dnsAddress, podNetwork, podNetwork6, type NodePlace } from './layout.ts';

export const sandboxImage = 'causeway.test/workload:1';

/** Paths of the machine and of the unpacked containerd. */
export interface NodePaths {
  readonly runtime: string;
  readonly plugins: string;
  readonly pluginConfiguration: string;
  readonly optional: string;
}

export const containerdConfiguration = (paths: NodePaths) => `
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "${paths.optional}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${sandboxImage}"
  disable_apparmor = true
  # For a root that lacks CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "${paths.runtime}"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${paths.plugins}"
    conf_dir = "${paths.pluginConfiguration}"
`;

export const podNetworksOf = (place: NodePlace, dualStack: boolean) =>
  dualStack ? [place.pods, place.pods6] : [place.pods];

/** A bridge on each node; other nodes' pods are reached by routes. */
export const networkPlugins = (place: NodePlace, dualStack: boolean) =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'causeway',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        isDefaultGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: podNetworksOf(place, dualStack).map((subnet) => [{ subnet }]),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });

export const kubeletConfiguration = (options: {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
  readonly cgroup: string;
  readonly resolver: string;
}) =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '0.0.0.0',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: options.authority },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: options.certificate,
    tlsPrivateKeyFile: options.key,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: options.cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    // Never write settings that affect the whole machine.
    protectKernelDefaults: true,
    makeIPTablesUtilChains: false,
    clusterDNS: [dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: options.resolver,
    staticPodPath: '',
    volumePluginDir: '/var/lib/kubelet/volumeplugins',
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    nodeStatusUpdateFrequency: '5s',
    syncFrequency: '10s',
  });

export type KubeProxyMode = 'nftables' | 'iptables';

export const kubeProxyConfiguration = (
  place: NodePlace,
  kubeconfig: string,
  { mode, dualStack }: { readonly mode: KubeProxyMode; readonly dualStack: boolean },
) =>
  stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode,
    clientConnection: { kubeconfig },
    clusterCIDR: dualStack ? `${podNetwork},${podNetwork6}` : podNetwork,
    hostnameOverride: place.name,
    conntrack: { maxPerCore: 0, min: 0 },
    nftables: { minSyncPeriod: '0s' },
  });
