/** The address that a Service requests, in place of `spec.loadBalancerIP`. */
export const addressAnnotation = 'causeway.dev/address';
/** Services with the same sharing key may share an address, also across namespaces. */
export const sharingKeyAnnotation = 'causeway.dev/sharing-key';

/** MetalLB's names of the same. The older prefix counts if the newer one is missing, as in MetalLB. */
export const metallbAddressAnnotations = [
  'metallb.io/loadBalancerIPs',
  'metallb.universe.tf/loadBalancerIPs',
] as const;
export const metallbSharingKeyAnnotations = [
  'metallb.io/allow-shared-ip',
  'metallb.universe.tf/allow-shared-ip',
] as const;

type Annotations = Readonly<Record<string, string>>;

/** The first of these annotations that the object has, with its text. An empty text counts as none. */
export function firstOf(
  names: readonly string[],
  annotations: Annotations,
): { readonly name: string; readonly text: string } | undefined {
  const name = names.find((each) => annotations[each] !== undefined);
  const text = name === undefined ? '' : (annotations[name] ?? '').trim();
  return name === undefined || text === '' ? undefined : { name, text };
}
