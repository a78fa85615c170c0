import { subdomainErrors } from '../../schema/names.ts';
import { builtIn } from '../definition.ts';
import { podColumns } from './pod-columns.ts';
import { admitPod, defaultPod } from './pod-defaults.ts';
import type { Pod } from './pod-type.ts';
import { validatePodSpec, validatePodUpdate } from './pod-validation.ts';

const completed = (reason: string, message: string) => ({
  type: 'Completed',
  status: 'True',
  reason,
  message,
});

export const pods = builtIn<Pod>({
  plural: 'pods',
  returnsDeleted: true,
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  nameErrors: subdomainErrors,
  columns: podColumns,
  rowConditions({ status }) {
    if (status?.phase === 'Succeeded') {
      return [completed('Succeeded', 'The pod has completed successfully.')];
    }
    return status?.phase === 'Failed' ? [completed('Failed', 'The pod failed.')] : [];
  },
  fieldLabels: ({ spec, status }) => ({
    'spec.nodeName': spec.nodeName ?? '',
    'spec.restartPolicy': spec.restartPolicy ?? '',
    'spec.schedulerName': spec.schedulerName ?? '',
    'spec.serviceAccountName': spec.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec.hostNetwork ?? false),
    'status.phase': status?.phase ?? '',
    'status.podIP': status?.podIP ?? '',
    'status.nominatedNodeName': status?.nominatedNodeName ?? '',
  }),
  defaults: defaultPod,
  prepareCreate: admitPod,
  validate: (pod, old) => [
    ...validatePodSpec(pod.spec, 'spec'),
    ...(old === undefined ? [] : validatePodUpdate(pod, old)),
  ],
  defaultGracePeriodSeconds(pod) {
    // A pod without a node, or a finished pod, needs no grace period.
    const isRunning = pod.spec.nodeName !== undefined && pod.spec.nodeName !== '';
    const phase = pod.status?.phase;
    if (!isRunning || phase === 'Failed' || phase === 'Succeeded') return 0;
    return pod.spec.terminationGracePeriodSeconds ?? 30;
  },
});
