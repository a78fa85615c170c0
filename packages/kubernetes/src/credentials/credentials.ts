import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';

export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** Credentials of a request. */
export interface Credentials {
  /** Request headers: `authorization` and impersonation. */
  readonly headers: RequestHeaders;
  readonly clientCertificate?: ClientCertificate;
}

export interface ClientCertificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** A source of credentials. They may change at runtime: call it before every request. */
export interface CredentialSource {
  current(signal: AbortSignal): Promise<Credentials>;
  /** The server refused the current credentials: do not use a cached value next time. */
  refused(): void;
}

/** A PEM or a token, given in the configuration or in a file that may be rotated. */
export type Material = { readonly text: string } | { readonly file: string };

/** How long the text of a file is cached. Kubernetes rotates tokens long before they expire. */
const believeFileMs = 10_000;

/**
 * Reads material, files at most every few seconds; a file that is missing for a moment keeps its last text.
 */
export class MaterialReader {
  readonly #clock: Clock;
  readonly #read = new Map<string, { text: string; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(material: Material, what: string): Promise<string> {
    if ('text' in material) return material.text;
    const known = this.#read.get(material.file);
    const now = this.#clock.monotonic();
    if (known !== undefined && now - known.at < believeFileMs) return known.text;
    try {
      const text = await fs.readFile(material.file, 'utf8');
      this.#read.set(material.file, { text, at: now });
      return text;
    } catch (error) {
      if (known !== undefined) return known.text;
      throw new CausewayError('unauthorized', `cannot read the ${what} from ${material.file}`, {
        cause: error,
        hint: 'Check that the file exists and that this process may read it.',
      });
    }
  }

  forget(): void {
    this.#read.clear();
  }
}

export interface MaterialCredentials {
  readonly token?: Material;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly certificate?: { readonly certificate: Material; readonly key: Material };
  readonly headers?: RequestHeaders;
}

/** Tokens, passwords and client certificates, from the configuration or from files. */
export class MaterialCredentialSource implements CredentialSource {
  readonly #material: MaterialCredentials;
  readonly #reader: MaterialReader;

  constructor(material: MaterialCredentials, clock: Clock) {
    this.#material = material;
    this.#reader = new MaterialReader(clock);
  }

  async current(): Promise<Credentials> {
    const { token, basic, certificate, headers } = this.#material;
    const read = (material: Material, what: string) => this.#reader.read(material, what);
    const authorization =
      token !== undefined
        ? bearer(await read(token, 'token'))
        : basic !== undefined
          ? `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
          : undefined;
    return {
      headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
      ...(certificate === undefined
        ? {}
        : {
            clientCertificate: {
              certificate: await read(certificate.certificate, 'client certificate'),
              key: await read(certificate.key, 'client key'),
            },
          }),
    };
  }

  refused(): void {
    this.#reader.forget();
  }
}

const printable = /^[\x21-\x7e]+$/;

/** A token that can't be a header is rejected, without its text in the message. */
export function bearer(token: string): string {
  const trimmed = token.trim();
  if (!printable.test(trimmed)) {
    throw new CausewayError('unauthorized', 'the token is empty or has invalid characters', {
      hint: 'Check the token or the file or plug-in that it comes from.',
    });
  }
  return `Bearer ${trimmed}`;
}
