/**
 * Flags of the controller's settings that its query commands have: how to reach the cluster and the
 * controller's ConfigMaps.
 */
export const clusterFlags = ['--kubeconfig', '--context', '--leader-election-namespace'] as const;

/** The same, with the credentials of the agents. */
export const gatewayFlags = [
  ...clusterFlags,
  '--gateway-secret-file',
  '--gateway-agent-authority-file',
] as const;
