import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { addressBytes, tryParseAddress } from '@causeway/base/address/address';
import * as der from './der.ts';

/** A certificate and its private key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Host names and addresses of the server. */
  readonly hosts?: readonly string[];
}

/** A certificate authority for servers in this process. It lasts as long as the process. */
export interface Authority {
  /** The authority's own certificate, as PEM. */
  readonly certificate: string;
  issue(request: CertificateRequest): KeyPair;
}

const dayMs = 24 * 3600 * 1000;
const lifetimeMs = 365 * dayMs;

const oid = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
  clientAuthentication: '1.3.6.1.5.5.7.3.2',
};

export function createAuthority(commonName: string, wallTime: number): Authority {
  const { privateKey, publicKey } = newKeys();
  const name = distinguishedName(commonName, []);
  const signed = (subject: Der, subjectKey: KeyObject, extensions: readonly Der[]) =>
    certificate({ issuer: name, issuerKey: privateKey, subject, subjectKey, wallTime, extensions });
  const keyId = keyIdentifier(publicKey);
  return {
    certificate: signed(name, publicKey, [
      extension(oid.basicConstraints, der.sequence(der.boolean(true)), true),
      // Bits 5 and 6: signing certificates and revocation lists.
      extension(oid.keyUsage, der.bitString(Buffer.from([0b0000_0110]), 1), true),
      extension(oid.subjectKeyIdentifier, der.octetString(keyId)),
    ]),
    issue(request) {
      const keys = newKeys();
      const subject = distinguishedName(request.commonName, request.organizations ?? []);
      return {
        certificate: signed(
          subject,
          keys.publicKey,
          leafExtensions(keys.publicKey, keyId, request),
        ),
        key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      };
    },
  };
}

type Der = der.Der;

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const publicKeyInfo = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });

const keyIdentifier = (key: KeyObject) =>
  createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, 20);

function leafExtensions(key: KeyObject, authorityId: Buffer, request: CertificateRequest): Der[] {
  const hosts = request.hosts ?? [];
  return [
    extension(oid.basicConstraints, der.sequence(), true),
    // Bit 0: digital signatures.
    extension(oid.keyUsage, der.bitString(Buffer.from([0b1000_0000]), 7), true),
    extension(
      oid.extendedKeyUsage,
      der.sequence(
        der.objectIdentifier(oid.serverAuthentication),
        der.objectIdentifier(oid.clientAuthentication),
      ),
    ),
    extension(oid.subjectKeyIdentifier, der.octetString(keyIdentifier(key))),
    extension(oid.authorityKeyIdentifier, der.sequence(der.tagged(0, authorityId, false))),
    ...(hosts.length === 0
      ? []
      : [extension(oid.subjectAlternativeName, der.sequence(...hosts.map(generalName)))]),
  ];
}

/** The tag of a host name is 2. The tag of an address is 7, and its content is the raw bytes. */
function generalName(host: string): Der {
  const address = tryParseAddress(host);
  return address === undefined
    ? der.tagged(2, Buffer.from(host, 'ascii'), false)
    : der.tagged(7, addressBytes(address), false);
}

function distinguishedName(commonName: string, organizations: readonly string[]): Der {
  const attribute = (type: string, value: string) =>
    der.setOf(der.sequence(der.objectIdentifier(type), der.utf8String(value)));
  return der.sequence(
    ...organizations.map((name) => attribute(oid.organization, name)),
    attribute(oid.commonName, commonName),
  );
}

function extension(type: string, value: Der, critical = false): Der {
  return der.sequence(
    der.objectIdentifier(type),
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(value),
  );
}

interface CertificateParts {
  readonly issuer: Der;
  readonly issuerKey: KeyObject;
  readonly subject: Der;
  readonly subjectKey: KeyObject;
  readonly wallTime: number;
  readonly extensions: readonly Der[];
}

function certificate(parts: CertificateParts): string {
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256));
  const body = der.sequence(
    der.tagged(0, der.unsignedInteger(Buffer.from([2])), true),
    der.unsignedInteger(randomBytes(16)),
    algorithm,
    parts.issuer,
    // The validity begins one day earlier, for clients with slow clocks.
    der.sequence(der.utcTime(parts.wallTime - dayMs), der.utcTime(parts.wallTime + lifetimeMs)),
    parts.subject,
    publicKeyInfo(parts.subjectKey),
    der.tagged(3, der.sequence(...parts.extensions), true),
  );
  const signature = sign('sha256', body, parts.issuerKey);
  const encoded = der.sequence(body, algorithm, der.bitString(signature)).toString('base64');
  const lines = encoded.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
