import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CloudConfig } from '@causeway/openstack/config/cloud-config';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { fingerprint, reading, type CredentialSource } from './credential-source.ts';

export interface Closable {
  close(): Promise<void>;
}

export interface ConnectionOptions<C extends Closable> {
  readonly source: CredentialSource;
  readonly open: (config: CloudConfig) => C;
  readonly clock: Clock;
  readonly log: Log;
}

/** The same credentials are tried again after this time: they may have been corrected in Keystone itself. */
const retryRefusedMs = 10 * 60_000;

/** A backend's cloud, reopened whenever its credentials change. */
export class BackendConnection<C extends Closable> {
  readonly #options: ConnectionOptions<C>;
  #open: { readonly print: string; readonly cloud: C } | undefined;
  #refused: { readonly print: string; readonly at: number; readonly error: Error } | undefined;

  constructor(options: ConnectionOptions<C>) {
    this.#options = options;
  }

  /**
   * The cloud with the current credentials. If the credentials can't be read, the previous ones stay in use.
   * Refused credentials are not tried again until they change, because Keystone may lock the account.
   */
  async cloud(signal: AbortSignal): Promise<C> {
    const { source, open, clock, log } = this.#options;
    let config: CloudConfig;
    try {
      config = await source.load(signal);
    } catch (thrown) {
      if (this.#open === undefined || signal.aborted) throw thrown;
      const error = CausewayError.from(thrown);
      log.warn(
        { error, source: source.description },
        'the credentials can not be read; using the previous ones',
      );
      return this.#open.cloud;
    }
    const print = fingerprint(config);
    const refused = this.#refused;
    if (refused?.print === print && clock.monotonic() - refused.at < retryRefusedMs) {
      throw refused.error;
    }
    if (this.#open?.print === print) return this.#open.cloud;
    await this.close();
    this.#open = { print, cloud: await reading(() => open(config)) };
    return this.#open.cloud;
  }

  /** Keystone has refused the credentials in use. */
  async refuse(error: Error): Promise<void> {
    const print = this.#open?.print;
    if (print === undefined) return;
    this.#refused = { print, at: this.#options.clock.monotonic(), error };
    await this.close();
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.cloud.close();
  }
}
