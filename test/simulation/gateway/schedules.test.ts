import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playGateway } from './gateway-schedule.ts';

test('Services come and go while controllers die: no port of an address has two owners, nothing is left', () =>
  searchSchedules('gateway', 800, playGateway));
