import type { Drill } from '../drill.ts';
import { FUNCTION_DRILLS } from './functions.ts';
import { MESSAGE_DRILLS } from './messages.ts';
import { PREPARE_DRILLS } from './prepare.ts';
import { PREVIEW_DRILLS } from './preview.ts';
import { WEBHOOK_DRILLS } from './webhooks.ts';
import { WORK_DRILLS } from './work.ts';

/** One fault at a time, and the alarms that must ring by it: all of them, and no other. */
export const DRILLS: readonly Drill[] = [
  ...FUNCTION_DRILLS,
  ...PREPARE_DRILLS,
  ...WORK_DRILLS,
  ...MESSAGE_DRILLS,
  ...WEBHOOK_DRILLS,
  ...PREVIEW_DRILLS,
];
