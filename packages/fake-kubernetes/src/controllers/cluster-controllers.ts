import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { ControlledObjects } from './controlled-objects.ts';
import { daemonSetController } from './daemon-set-controller.ts';
import { deploymentController } from './deployment-controller.ts';
import { endpointSliceMirroring } from './endpoint-slice-mirroring.ts';
import { endpointSliceController } from './endpoint-slice-controller.ts';
import { endpointsController } from './endpoints-controller.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespace-controller.ts';
import { nodeController } from './node-controller.ts';
import { runPodController } from './pod-controller.ts';
import type { PodRunner } from './pod-runner.ts';
import { replicaController } from './replica-set-controller.ts';
import { scheduler } from './scheduler.ts';
import { serviceAccountController } from './service-account-controller.ts';
import { statefulSetController } from './stateful-set-controller.ts';
import { runStoreController, type ControllerSetting } from './store-controller.ts';

export interface ClusterControllersOptions extends ControllerSetting {
  /** Binds pods to the cluster's nodes. Without it, pods wait for an external scheduler. */
  readonly schedulesPods?: boolean;
  /** Runs bound pods. Without it, another component has to write their status. */
  readonly runner?: PodRunner;
}

/** Runs the controllers of a live cluster, from Deployments to running pods, until the signal fires. */
export async function runClusterControllers(
  options: ClusterControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  const controlled = new ControlledObjects(options.api.store);
  const workloads = { ...options, controlled };
  const controllers = [
    deploymentController(workloads),
    replicaController(workloads, 'replicasets.apps', 'ReplicaSet'),
    replicaController(workloads, 'replicationcontrollers', 'ReplicationController'),
    statefulSetController(workloads),
    daemonSetController(workloads),
    endpointSliceController(options),
    endpointSliceMirroring(options),
    endpointsController(options),
    garbageCollector(options),
    namespaceController(options),
    serviceAccountController(options),
    nodeController(options),
    ...(options.schedulesPods === true ? [scheduler(options)] : []),
  ];
  const loops: Record<string, Loop> = Object.fromEntries(
    controllers.map((controller) => [
      controller.name,
      (limited: AbortSignal) => runStoreController(options, controller, limited),
    ]),
  );
  const { runner } = options;
  if (runner !== undefined) loops['pod'] = (limited) => runPodController(options, runner, limited);
  try {
    await supervise(signal, loops);
  } finally {
    controlled.close();
  }
}
