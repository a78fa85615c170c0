import { createHash } from 'node:crypto';

/** The longest name of a Service, a namespace, a port or the value of a label. */
const longest = 63;

/** 80 bits: with a billion names, two are alike with a chance of one in two million. */
const nameDigits = 20;

/** Enough to tell the few objects apart that share the rest of their name. */
const shortDigits = 10;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Digits of a SHA-256 over the parts. These end up in names that users keep in their files: they must
 * be the same in every version.
 */
export function digest(parts: readonly string[], digits = shortDigits): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
}

/** Lower-case letters, digits and single hyphens; empty where nothing of the text can be kept. */
export function plainText(text: string): string {
  return trimHyphens(
    text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}+/gu, '')
      .replaceAll('ß', 'ss')
      .replaceAll(/[^a-z0-9]+/g, '-'),
  );
}

/** `BACKEND-NAME-ID`, or `BACKEND-ID` where there is no name. Unique because the id is. */
export function serviceName(backend: string, name: string, id: string): string {
  const readable = [backend, plainText(name)].filter((part) => part !== '').join('-');
  const full = `${readable}-${id}`;
  if (uuid.test(id) && full.length <= longest) return full;
  return cut(readable, digest([backend, name, id], nameDigits));
}

/** `LISTENER-PORT`, or `port-PORT` where there is no name. Unique within a load balancer by its end. */
export function portName(listenerName: string, port: number, suffix: '' | 'udp' | 'sctp'): string {
  const end = suffix === '' ? String(port) : `${port}-${suffix}`;
  const readable = plainText(listenerName) || 'port';
  const full = `${readable}-${end}`;
  return full.length <= longest ? full : cut(readable, `${digest([listenerName])}-${end}`);
}

/** The value of a label: as it is where that is allowed, else as near as it gets. */
export function labelValue(text: string): string {
  if (text === '' || /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  const plain = plainText(text);
  return plain.length <= longest ? plain : cut(plain, digest([text]));
}

/** A value that tells texts apart even where a label can't hold them. */
export function labelKey(text: string): string {
  const value = labelValue(text);
  return value === text ? value : digest([text], nameDigits);
}

/** Whether the text is a name that any object may have as it stands. */
export function isPlainLabel(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

/** As much of the readable part as fits before the end. */
export function cut(readable: string, end: string): string {
  const start = trimHyphens(readable.slice(0, longest - 1 - end.length));
  return start === '' ? end : `${start}-${end}`;
}

function trimHyphens(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === '-') start += 1;
  while (end > start && text[end - 1] === '-') end -= 1;
  return text.slice(start, end);
}
