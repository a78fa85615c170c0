import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ObjectMeta, ObjectName } from '@causeway/kubernetes/objects/object';
import { services } from '@causeway/kubernetes/objects/resources';

/** How a user selects the Services to idle or wake. Exactly one way is used. */
export interface ServiceChoice {
  readonly names: readonly string[];
  readonly selector?: string | undefined;
  readonly all?: boolean | undefined;
  /** The content of a file with one name per line. */
  readonly namesFile?: string | undefined;
  readonly allNamespaces?: boolean | undefined;
}

/** The selected Services. A bare name is in the given namespace; `namespace/name` has its own. */
export async function chooseServices(
  client: KubeClient,
  choice: ServiceChoice,
  namespace: string,
  signal: AbortSignal,
): Promise<ObjectName[]> {
  const { names, selector, all, namesFile, allNamespaces } = choice;
  const ways = [names.length > 0, selector !== undefined, all === true, namesFile !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw new CausewayError('invalid', 'the Services must be selected in exactly one way', {
      hint: 'Name the Services, or give --all, --selector or --resource-names-file.',
    });
  }
  if (names.length > 0) return names.map((name) => parseName(name, namespace));
  if (namesFile !== undefined) {
    return namesFile
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => parseName(line, namespace));
  }
  const chosen: ObjectName[] = [];
  const where = allNamespaces === true ? undefined : namespace;
  const selection = { namespace: where, labelSelector: selector, signal };
  for await (const { metadata } of client.list(services, selection)) {
    if (all === true && isApiServer(metadata)) continue;
    chosen.push({ namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' });
  }
  return chosen;
}

/** The API server's own Service has no pods to scale, so it is never selected. */
function isApiServer(metadata: ObjectMeta | undefined): boolean {
  return metadata?.namespace === 'default' && metadata.name === 'kubernetes';
}

function parseName(text: string, namespace: string): ObjectName {
  const bare = text.replace(/^(?:services?|svc|endpoints|ep)\//, '');
  const parts = bare.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || first === '' || second === '') {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not the name of a Service`, {
      hint: 'Write NAME, or NAMESPACE/NAME.',
    });
  }
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
