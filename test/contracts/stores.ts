import { describe } from '@jest/globals';
import { describeAdmissionStore } from './admission-store.contract.ts';
import { describeFanOutLease } from './fan-out-lease.contract.ts';
import { describeFinalizing } from './finalizing.contract.ts';
import { describeLedgerStore } from './ledger-store.contract.ts';
import { describeProviderStore } from './provider-store.contract.ts';
import { describeRecordStore } from './record-store.contract.ts';
import { describeSubmissionStore } from './submission-store.contract.ts';
import type { Make, StoreWorld } from './world.ts';

/** Every store's contract, run against whatever `make` makes: empty stores for each test. */
export function describeStores(name: string, make: Make<StoreWorld>): void {
  describe(`${name}: submissions`, () => {
    describeSubmissionStore(make);
  });
  describe(`${name}: fan-out lease`, () => {
    describeFanOutLease(make);
  });
  describe(`${name}: finalizing`, () => {
    describeFinalizing(make);
  });
  describe(`${name}: ledger`, () => {
    describeLedgerStore(make);
  });
  describe(`${name}: records`, () => {
    describeRecordStore(make);
  });
  describe(`${name}: providers`, () => {
    describeProviderStore(make);
  });
  describe(`${name}: admission`, () => {
    describeAdmissionStore(make);
  });
}
