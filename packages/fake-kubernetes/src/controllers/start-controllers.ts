import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { runClusterControllers, type ClusterControllersOptions } from './cluster-controllers.ts';
import { customResourceCleanup } from './custom-resource-cleanup.ts';
import { endpointsCleanup } from './endpoints-cleanup.ts';
import { runStoreController, type ControllerSetting } from './store-controller.ts';

export type ControllersOptions = Omit<ClusterControllersOptions, keyof ControllerSetting>;

/** Starts the controllers of every API server and, if requested, those of a live cluster. */
export function startControllers(
  setting: ControllerSetting,
  options: ControllersOptions | undefined,
): { stop(): Promise<void> } {
  const controller = new AbortController();
  const customResources = customResourceCleanup(setting);
  const endpoints = endpointsCleanup(setting.api);
  const loops: Record<string, Loop> = {
    [customResources.name]: (signal) => runStoreController(setting, customResources, signal),
  };
  if (options !== undefined) {
    loops['cluster'] = (signal) => runClusterControllers({ ...setting, ...options }, signal);
  }
  const ended = supervise(controller.signal, loops);
  return {
    async stop() {
      controller.abort();
      await ended;
      endpoints.close();
    },
  };
}
