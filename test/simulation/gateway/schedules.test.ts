import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runGatewaySchedule } from './gateway-schedule.ts';

test('no address and port has two owners and nothing is left while Services change and controllers are killed', () =>
  searchSchedules('gateway', 800, runGatewaySchedule));
