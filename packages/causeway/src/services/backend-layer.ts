/** The kind of backend of a gateway: nodes, the cluster address, or pods. */
export type BackendLayer = 'NodePort' | 'ClusterIP' | 'Pod';

/**
 * Set to `Pod` on a Service if its gateways send connections directly to its pods. The gateway provider writes
 * it. The node proxy reads it, so that a connection that wakes the Service keeps the client's address.
 */
export const gatewayLayerAnnotation = 'causeway.dev/gateway-layer';
