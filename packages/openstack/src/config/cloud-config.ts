import type { ServiceName } from '../error.ts';
import type { Secret } from '../secret.ts';

/** A domain, user or project: by ID, or by name (within a domain where names are unique only there). */
export type DomainRef = { readonly id: string } | { readonly name: string };
export type InDomain =
  | { readonly id: string }
  | { readonly name: string; readonly domain: DomainRef };

export type Credentials =
  | { readonly method: 'password'; readonly user: InDomain; readonly password: Secret }
  | {
      readonly method: 'application-credential';
      /** By ID, or by name and owner. */
      readonly credential:
        | { readonly id: string }
        | { readonly name: string; readonly user: InDomain };
      readonly secret: Secret;
    }
  | { readonly method: 'token'; readonly token: Secret };

/** Scope of a token. Application credentials carry their own scope: `as-issued`. */
export type Scope =
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'as-issued' }
  | { readonly kind: 'project'; readonly project: InDomain }
  | { readonly kind: 'domain'; readonly domain: DomainRef }
  | { readonly kind: 'system' };

export type EndpointInterface = 'public' | 'internal' | 'admin';

/** One cloud, from any source: clouds.yaml, `OS_*` variables or a Kubernetes Secret. */
export interface CloudConfig {
  /** Name of the cloud; used in messages only. */
  readonly name: string;
  /** Keystone's address, with or without the version. */
  readonly authUrl: string;
  readonly credentials: Credentials;
  readonly scope: Scope;
  readonly region?: string;
  readonly interface: EndpointInterface;
  /** Endpoints that replace those of the catalog. */
  readonly endpoints: Readonly<Partial<Record<ServiceName, string>>>;
  readonly tls: TlsConfig;
}

export interface TlsConfig {
  /** PEM certificates to trust instead of those of the system. */
  readonly certificateAuthorities?: string;
  readonly verify: boolean;
  /** For clouds that require a client certificate. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: Secret };
}
