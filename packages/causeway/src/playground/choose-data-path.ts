import { CausewayError } from '@causeway/base/error/causeway-error';
import { whyNoNamespaces } from './namespaces.ts';
import { whyNoPrograms } from './needed-programs.ts';
import { isInUserNamespace, prepareUserNamespace, whyNoUserNamespace } from './user-namespace.ts';

export type DataPathChoice =
  | { readonly kind: 'kernel' }
  /** Available as root of a user namespace. */
  | { readonly kind: 'user-namespace' }
  | { readonly kind: 'memory'; readonly why: string };

/** The requested data path, or the best one available here. */
export async function chooseDataPath(asked: string | undefined): Promise<DataPathChoice> {
  if (asked === 'memory') return { kind: 'memory', why: '--datapath memory was given' };
  const best = await findBest();
  if (asked === 'kernel' && best.kind === 'memory') {
    throw new CausewayError('unsupported', `--datapath kernel: ${best.why}`);
  }
  return best;
}

async function findBest(): Promise<DataPathChoice> {
  if (isInUserNamespace()) return inUserNamespace();
  const missing = await whyNoPrograms();
  if (missing !== undefined) return { kind: 'memory', why: missing };
  const isRoot = process.getuid?.() === 0;
  const asRoot = isRoot ? await whyNoNamespaces() : 'that needs root';
  if (asRoot === undefined) return { kind: 'kernel' };
  const asUser = await whyNoUserNamespace();
  if (asUser === undefined) return { kind: 'user-namespace' };
  return { kind: 'memory', why: `${asRoot}, and user namespaces are not allowed here (${asUser})` };
}

async function inUserNamespace(): Promise<DataPathChoice> {
  try {
    await prepareUserNamespace();
    const why = await whyNoNamespaces();
    if (why === undefined) return { kind: 'kernel' };
    return { kind: 'memory', why: `network namespaces are not allowed here (${why})` };
  } catch (error) {
    return { kind: 'memory', why: CausewayError.from(error).message };
  }
}
