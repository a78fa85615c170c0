import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playPool } from './pool-schedule.ts';

test('Services wait for one address and never share it while controllers are killed', () =>
  searchSchedules('pool', 250, playPool));
