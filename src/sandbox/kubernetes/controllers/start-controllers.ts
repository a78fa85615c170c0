import { supervise, type Loop } from '../../../runtime/supervisor.ts';
import { runClusterControllers, type ClusterControllersOptions } from './cluster-controllers.ts';
import { customResourceCleanup } from './custom-resource-cleanup.ts';
import { runStoreController, type ControllerSetting } from './store-controller.ts';

export type ControllersOptions = Omit<ClusterControllersOptions, keyof ControllerSetting>;

/** Starts what belongs to every API server and, where asked for, what makes the cluster live. */
export function startControllers(
  setting: ControllerSetting,
  options: ControllersOptions | undefined,
): { stop(): Promise<void> } {
  const controller = new AbortController();
  const cleanup = customResourceCleanup(setting);
  const loops: Record<string, Loop> = {
    [cleanup.name]: (signal) => runStoreController(setting, cleanup, signal),
  };
  if (options !== undefined) {
    loops['cluster'] = (signal) => runClusterControllers({ ...setting, ...options }, signal);
  }
  const ended = supervise(controller.signal, loops);
  return {
    async stop() {
      controller.abort();
      await ended;
    },
  };
}
