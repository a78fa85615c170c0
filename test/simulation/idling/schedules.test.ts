import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playIdling } from './idling-schedule.ts';

test('who puts to sleep and who wakes may come at once and die: nobody stays without pods', () =>
  searchSchedules('idling', 8_000, playIdling));
