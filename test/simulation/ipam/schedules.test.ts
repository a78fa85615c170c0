import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playIpam } from './ipam-schedule.ts';

test('servers of one ledger die and lose answers: each owner has one address, and nobody two', () =>
  searchSchedules('ipam', 20_000, playIpam));
