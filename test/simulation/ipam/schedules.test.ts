import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runIpamSchedule } from './ipam-schedule.ts';

test('each owner has one address, and no owner has two, while servers of one ledger are killed and answers get lost', () =>
  searchSchedules('ipam', 20_000, runIpamSchedule));
