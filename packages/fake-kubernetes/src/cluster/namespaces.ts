import { fieldAt } from '../object.ts';
import { forbidden, notFound, type ObjectIdentity } from '../status.ts';
import type { ObjectStore } from '../store.ts';

/** Namespaces that can't be deleted. */
const immortal = ['default', 'kube-system', 'kube-public'];

/** Checks that the namespace of a new object exists and is not being deleted. */
export function checkNamespaceForCreate(
  store: ObjectStore,
  namespace: string,
  object: ObjectIdentity,
): void {
  const found = store.get('namespaces', undefined, namespace);
  if (found === undefined) {
    throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace', name: namespace });
  }
  const isTerminating =
    found.metadata.deletionTimestamp !== undefined ||
    fieldAt(found, 'status', 'phase') === 'Terminating';
  if (!isTerminating) return;
  throw forbidden(
    object,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

export function checkDeletable(object: ObjectIdentity): void {
  if (object.plural !== 'namespaces' || object.group !== '') return;
  if (!immortal.includes(object.name)) return;
  throw forbidden(object, 'this namespace may not be deleted');
}
