import { createHash } from 'node:crypto';

/** The longest name of a Service, a namespace, a port or the value of a label. */
const longest = 63;

/** 80 bits: with a billion names, the chance of two equal ones is one in two million. */
const nameDigits = 20;

/** Enough to distinguish the few objects that share the rest of their name. */
const shortDigits = 10;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Digits of a SHA-256 over the parts. They are part of names in users' files: they must be the same in every
 * version.
 */
export function digest(parts: readonly string[], digits = shortDigits): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
}

/** Lower-case letters, digits and single hyphens; empty if no character of the text can be kept. */
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

/** `BACKEND-NAME-ID`, or `BACKEND-ID` without a name. Unique because the id is. */
export function serviceName(backend: string, name: string, id: string): string {
  const readable = [backend, plainText(name)].filter((part) => part !== '').join('-');
  const full = `${readable}-${id}`;
  if (uuid.test(id) && full.length <= longest) return full;
  return cut(readable, digest([backend, name, id], nameDigits));
}

/** `LISTENER-PORT`, or `port-PORT` without a name. Its end makes it unique within a load balancer. */
export function portName(listenerName: string, port: number, suffix: '' | 'udp' | 'sctp'): string {
  const end = suffix === '' ? String(port) : `${port}-${suffix}`;
  const readable = plainText(listenerName) || 'port';
  const full = `${readable}-${end}`;
  return full.length <= longest ? full : cut(readable, `${digest([listenerName])}-${end}`);
}

/** The value of a label: unchanged if valid, else the closest valid value. */
export function labelValue(text: string): string {
  if (text === '' || /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  const plain = plainText(text);
  return plain.length <= longest ? plain : cut(plain, digest([text]));
}

/** A value that is different for different texts, even if a label can't hold them. */
export function labelKey(text: string): string {
  const value = labelValue(text);
  return value === text ? value : digest([text], nameDigits);
}

/** Whether the text is a valid name for any object. */
export function isPlainLabel(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

/** Cuts the readable part so that it fits before the end. */
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
