/** What users write beside `causeway.dev/address` and `causeway.dev/sharing-key`. */
export const announcerAnnotation = 'causeway.dev/announcer';
export const poolNameAnnotation = 'causeway.dev/address-pool';
export const poolLabelsAnnotation = 'causeway.dev/address-pool-labels';
export const nodeAnnotation = 'causeway.dev/node';

/** What external-dns publishes instead of the status, where clients reach another address than is announced. */
export const dnsTargetAnnotation = 'external-dns.alpha.kubernetes.io/target';

/** What we write: what the Service holds in the shared ledger, and who announces it. */
export const holdingAnnotation = 'causeway.dev/pool-holding';
