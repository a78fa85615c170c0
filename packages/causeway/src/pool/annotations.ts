/** Annotations that users write beside `causeway.dev/address` and `causeway.dev/sharing-key`. */
export const announcerAnnotation = 'causeway.dev/announcer';
export const poolNameAnnotation = 'causeway.dev/address-pool';
export const poolLabelsAnnotation = 'causeway.dev/address-pool-labels';
export const nodeAnnotation = 'causeway.dev/node';

/**
 * The address that external-dns publishes instead of the status, where clients reach another address than the
 * announced one.
 */
export const dnsTargetAnnotation = 'external-dns.alpha.kubernetes.io/target';

/** Written by the controller: the Service's reservation in the shared ledger, and its announcer. */
export const holdingAnnotation = 'causeway.dev/pool-holding';
