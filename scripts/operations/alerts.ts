import type { AlertGroup } from './alert.ts';
import { controllerAlerts } from './controller-alerts.ts';
import { gatewayAlerts } from './gateway-alerts.ts';
import { nodeAlerts } from './node-alerts.ts';
import { discoveryAlerts, ipamAlerts } from './shared-alerts.ts';

/** Every alert, by job. */
export const alertGroups: readonly AlertGroup[] = [
  controllerAlerts,
  gatewayAlerts,
  nodeAlerts,
  ipamAlerts,
  discoveryAlerts,
];
