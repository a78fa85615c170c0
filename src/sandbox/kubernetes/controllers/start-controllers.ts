import { supervise, type Loop } from '../../../runtime/supervisor.ts';
import { runClusterControllers, type ClusterControllersOptions } from './cluster-controllers.ts';
import { customResourceCleanup } from './custom-resource-cleanup.ts';
import { endpointsCleanup } from './endpoints-cleanup.ts';
import { runStoreController, type ControllerSetting } from './store-controller.ts';

export type ControllersOptions = Omit<ClusterControllersOptions, keyof ControllerSetting>;

/** Starts what belongs to every API server and, where asked for, what makes the cluster live. */
export function startControllers(
  setting: ControllerSetting,
  options: ControllersOptions | undefined,
): { stop(): Promise<void> } {
  const controller = new AbortController();
  const own = [customResourceCleanup(setting), endpointsCleanup(setting)];
  const loops: Record<string, Loop> = Object.fromEntries(
    own.map((one) => [one.name, (signal: AbortSignal) => runStoreController(setting, one, signal)]),
  );
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
