import { startEmbeddedKubernetes } from '../../packages/fake-kubernetes/src/start.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../packages/fake-openstack/src/cloud.ts';
import { quickPauses } from '../openstack/quick-clock.ts';
import { OctaviaLab, type LabParts } from './lab.ts';

export type CloudOptions = Parameters<typeof startEmbeddedOpenStack>[0];

/** The controller between an embedded cluster and an embedded cloud; all three end together. */
interface EmbeddedLab {
  readonly cloud: EmbeddedOpenStack;
  readonly lab: OctaviaLab;
  readonly stop: () => Promise<void>;
}

export async function openEmbeddedLab(
  options: CloudOptions = {},
  account: LabParts['account'] = 'demo',
): Promise<EmbeddedLab> {
  const cloud = await startEmbeddedOpenStack(options);
  const { lab, stop } = await openClusterIn(cloud, account);
  return {
    cloud,
    lab,
    stop: async () => {
      await stop();
      await cloud.stop();
    },
  };
}

/** Another cluster with its own controller, in an existing cloud. */
export async function openClusterIn(
  { authUrl, region }: EmbeddedOpenStack,
  account: LabParts['account'] = 'demo',
): Promise<Omit<EmbeddedLab, 'cloud'>> {
  const kubernetes = await startEmbeddedKubernetes();
  const parts = { kubeconfig: kubernetes.kubeconfig, authUrl, region, account };
  const lab = await OctaviaLab.open({ ...parts, cloudOptions: quickPauses });
  return {
    lab,
    stop: async () => {
      await lab.close();
      await kubernetes.stop();
    },
  };
}
