import type { z } from 'zod';
import { dashboardSettings } from '../../console/dashboard/settings.ts';
import { idlingSettings } from '../../idling/settings.ts';
import { controllerSettings } from './settings.ts';

/**
 * The settings of `causeway controller`: the controller's own, and those of the other parts of its process.
 */
export const controllerCommandSettings = controllerSettings.extend({
  idling: idlingSettings.prefault({}),
  dashboard: dashboardSettings.prefault({}),
});

export type ControllerCommandSettings = z.output<typeof controllerCommandSettings>;
