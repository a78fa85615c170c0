import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playPool } from './pool-schedule.ts';

test('Services wait for one address while controllers die: nobody shares it, and it goes on', () =>
  searchSchedules('pool', 250, playPool));
