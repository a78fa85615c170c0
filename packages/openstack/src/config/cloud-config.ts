import type { ServiceName } from '../error.ts';
import type { Secret } from '../secret.ts';

/** A domain, user or project: by id, or by name (within a domain where names are unique only there). */
export type DomainRef = { readonly id: string } | { readonly name: string };
export type InDomain =
  | { readonly id: string }
  | { readonly name: string; readonly domain: DomainRef };

export type Credentials =
  | { readonly method: 'password'; readonly user: InDomain; readonly password: Secret }
  | {
      readonly method: 'application-credential';
      /** By its id, or by its name and whose it is. */
      readonly credential:
        | { readonly id: string }
        | { readonly name: string; readonly user: InDomain };
      readonly secret: Secret;
    }
  | { readonly method: 'token'; readonly token: Secret };

/** What a token is good for. Application credentials carry their own scope: `as-issued`. */
export type Scope =
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'as-issued' }
  | { readonly kind: 'project'; readonly project: InDomain }
  | { readonly kind: 'domain'; readonly domain: DomainRef }
  | { readonly kind: 'system' };

export type EndpointInterface = 'public' | 'internal' | 'admin';

/** One cloud, however it was written down: clouds.yaml, OS_* variables, a Kubernetes Secret. */
export interface CloudConfig {
  /** What people call the cloud; for messages only. */
  readonly name: string;
  /** Keystone's address, with or without the version. */
  readonly authUrl: string;
  readonly credentials: Credentials;
  readonly scope: Scope;
  readonly region?: string;
  readonly interface: EndpointInterface;
  /** Endpoints to use instead of the catalog's. */
  readonly endpoints: Readonly<Partial<Record<ServiceName, string>>>;
  readonly tls: TlsConfig;
}

export interface TlsConfig {
  /** PEM certificates to trust instead of the system's. */
  readonly certificateAuthorities?: string;
  readonly verify: boolean;
  /** For clouds that ask the client for a certificate. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: Secret };
}
