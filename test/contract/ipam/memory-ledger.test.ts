import { MemoryLedger } from '../../doubles/memory-ledger.ts';
import { describeLedger } from './ledger-contract.ts';

describeLedger('memory', () => {
  const ledger = new MemoryLedger();
  return Promise.resolve({ ledger, close: () => ledger.close() });
});
