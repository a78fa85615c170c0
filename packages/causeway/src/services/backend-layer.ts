/**
 * On a Service whose gateways lead straight to its pods (`Pod`). Written by the gateway provider; a
 * node's proxy reads it, because a connection that wakes the Service is to be seen by its own address.
 */
export const gatewayLayerAnnotation = 'causeway.dev/gateway-layer';
