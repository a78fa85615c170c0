/** The address that a Service requests, in place of `spec.loadBalancerIP`. */
export const addressAnnotation = 'causeway.dev/address';
/** Services with the same sharing key may share an address, also across namespaces. */
export const sharingKeyAnnotation = 'causeway.dev/sharing-key';
