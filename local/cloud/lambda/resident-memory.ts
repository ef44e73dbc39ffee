import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Resident memory of a process in bytes; 0 when it has ended. */
export function residentBytesOf(pid: number): number {
  try {
    if (process.platform === 'linux') {
      return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    }
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  } catch {
    // It ended between two looks; its exit tells the rest.
    return 0;
  }
}
