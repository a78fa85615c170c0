const digestPattern = /^v1 (\d+(?:\.\d+)?) /;

/** The digest of a state that a `/v1` token has set. It has the expiry of the token. */
export function v1Digest(expiry: number, tokenDigest: string): string {
  return `v1 ${expiry} ${tokenDigest}`;
}

export function isFromV1(digest: string): boolean {
  return digestPattern.test(digest);
}

/** The expiry of the token that has set the state; 0 for other states. */
export function expiryOfDigest(digest: string): number {
  return Number(digestPattern.exec(digest)?.[1] ?? 0);
}
