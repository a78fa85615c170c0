import type { Address } from '@causeway/base/address/address';
import type { PlatformAddress, PlatformDriver } from './platform-driver.ts';

type Open = (signal: AbortSignal) => Promise<PlatformDriver>;

/**
 * Opens a platform when it is first needed, and retries until it answers. An unreachable platform fails only
 * the calls that need it, and neither the server nor the pools of other platforms.
 */
export class LateDriver implements PlatformDriver {
  readonly #open: Open;
  #driver: PlatformDriver | undefined;

  constructor(open: Open) {
    this.#open = open;
  }

  async ensure(
    address: PlatformAddress,
    note: string,
    signal: AbortSignal,
  ): Promise<Address | undefined> {
    return (await this.#opened(signal)).ensure(address, note, signal);
  }

  async delete(address: PlatformAddress, signal: AbortSignal): Promise<void> {
    await (await this.#opened(signal)).delete(address, signal);
  }

  async list(signal: AbortSignal): Promise<readonly PlatformAddress[]> {
    return (await this.#opened(signal)).list(signal);
  }

  /** Concurrent callers both open it, each with its own signal, which is harmless. */
  async #opened(signal: AbortSignal): Promise<PlatformDriver> {
    this.#driver ??= await this.#open(signal);
    return this.#driver;
  }
}
