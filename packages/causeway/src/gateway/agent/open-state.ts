import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { Overrides } from './overrides.ts';
import type { AgentSettings } from './settings.ts';
import { AppliedMark, whyInDoubt } from './store/applied-mark.ts';
import { renameLegacyFiles } from './store/legacy.ts';
import { StateStore, type OpenedStore } from './store/state-store.ts';

/** The state of an agent on disk at its start. */
export interface AgentState {
  readonly opened: OpenedStore;
  readonly overrides: Overrides;
  readonly mark: AppliedMark;
  /** Why the kernel may have a newer configuration than the disk. */
  readonly doubt: string | undefined;
}

/** Opens the state files. A damaged file or a disk that accepts no writes does not keep an agent from starting. */
export async function openState(
  settings: Pick<AgentSettings, 'stateDirectory' | 'runtimeDirectory'>,
  log: Log,
): Promise<AgentState> {
  const { stateDirectory, runtimeDirectory } = settings;
  for (const directory of [stateDirectory, runtimeDirectory]) {
    await renameLegacyFiles(directory).catch((error: unknown) => {
      log.warn({ error: CausewayError.from(error) }, "the files of 0.1.0 can't be renamed");
    });
  }
  const overrides = await Overrides.load(path.join(stateDirectory, 'overrides.json'));
  const opened = await StateStore.open(stateDirectory);
  const mark = new AppliedMark(path.join(runtimeDirectory, 'applied-generation'));
  const { generation } = opened.stored.holder.current;
  const doubt = whyInDoubt(opened.damage, await mark.read(), generation);
  // A second start finds a good file, and must not forget the doubt.
  if (opened.damage !== undefined) await mark.write('unknown').catch(() => undefined);
  return { opened, overrides, mark, doubt };
}
