import { parentPort, workerData } from 'node:worker_threads';
import { enterNetworkNamespace, openNetlink } from './system-calls.ts';

/** Opens a socket in another network namespace. The socket belongs to the whole process; this thread ends. */
enterNetworkNamespace(workerData as string);
parentPort?.postMessage({ fd: openNetlink() });
