import { startEmbeddedKubernetes } from '../../src/sandbox/kubernetes/start.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../src/sandbox/openstack/cloud.ts';
import { quickPauses } from '../openstack/quick-clock.ts';
import { OctaviaLab, type LabParts } from './lab.ts';

export type CloudWish = Parameters<typeof startEmbeddedOpenStack>[0];

/** The controller between an embedded cluster and an embedded cloud; all of it ends together. */
interface EmbeddedLab {
  readonly cloud: EmbeddedOpenStack;
  readonly lab: OctaviaLab;
  readonly stop: () => Promise<void>;
}

export async function openEmbeddedLab(
  wish: CloudWish = {},
  account: LabParts['account'] = 'demo',
): Promise<EmbeddedLab> {
  const kubernetes = await startEmbeddedKubernetes();
  const cloud = await startEmbeddedOpenStack(wish);
  const { authUrl, region } = cloud;
  const parts = { kubeconfig: kubernetes.kubeconfig, authUrl, region, account };
  const lab = await OctaviaLab.open({ ...parts, cloudOptions: quickPauses });
  return {
    cloud,
    lab,
    stop: async () => {
      await lab.close();
      await cloud.stop();
      await kubernetes.stop();
    },
  };
}
