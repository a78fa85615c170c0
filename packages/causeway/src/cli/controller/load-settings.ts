import type { z } from 'zod';
import { dashboardSettings } from '../../console/dashboard/settings.ts';
import { idlingSettings } from '../../idling/settings.ts';
import { controllerSettings } from './settings.ts';

/** The settings of `causeway controller`: those of the controller, and of what else its process runs. */
export const controllerCommandSettings = controllerSettings.extend({
  idling: idlingSettings.prefault({}),
  dashboard: dashboardSettings.prefault({}),
});

export type ControllerCommandSettings = z.output<typeof controllerCommandSettings>;
