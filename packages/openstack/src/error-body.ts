import type { Secret } from './secret.ts';

/** The message in the body of a failed answer: JSON of several shapes, HTML or plain text. */
export function serviceMessage(body: string, secrets: readonly Secret[] = []): string | undefined {
  const text = body.trim();
  if (text === '') return undefined;
  const message = text.startsWith('{') ? jsonMessage(text) : undefined;
  const whole = message ?? (text.startsWith('<') ? htmlMessage(text) : text);
  // Secrets are removed before the text is shortened: a truncated secret, or one with merged spaces, would
  // not be found.
  return shorten(secrets.reduce((rest, secret) => secret.removeFrom(rest), whole));
}

/** The type of the error, where the service gives one: Neutron's `type`, Octavia's `faultcode`. */
export function serviceErrorType(body: string): string | undefined {
  const parsed = parseObject(body.trim());
  if (parsed === undefined) return undefined;
  for (const candidate of [parsed, ...Object.values(parsed)]) {
    if (typeof candidate !== 'object' || candidate === null) continue;
    for (const key of ['type', 'faultcode'] as const) {
      const value = (candidate as Record<string, unknown>)[key];
      if (typeof value === 'string' && value !== '') return value;
    }
  }
  return undefined;
}

/**
 * Keystone's {"error": {"code": 404, "message": "…", "title": "…"}}. Versions before Rocky answer in this
 * form for an unknown path as well; that message says nothing about the requested object.
 */
export function isKeystoneRefusal(status: number, body: string): boolean {
  const error = parseObject(body.trim())?.['error'];
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as Record<string, unknown>;
  return code === status && typeof message === 'string' && !unknownPath.test(message);
}

const unknownPath = /^The resource could not be found\.?$/;

const longestMessage = 500;

/**
 * Octavia: {"faultstring": "…"}; Keystone: {"error": {"message": "…"}}; Neutron: {"NeutronError":
 * {"message": "…", "detail": "…"}}, in old versions {"NeutronError": "…"}; others {"message": "…"}.
 */
function jsonMessage(text: string): string | undefined {
  const parsed = parseObject(text);
  if (parsed === undefined) return undefined;
  const direct = messageOf(parsed);
  if (direct !== undefined) return direct;
  for (const value of Object.values(parsed)) {
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'object' && value !== null) {
      const nested = messageOf(value as Record<string, unknown>);
      if (nested !== undefined) return nested;
    }
  }
  return undefined;
}

function messageOf(object: Record<string, unknown>): string | undefined {
  for (const key of ['faultstring', 'message', 'title'] as const) {
    const value = object[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The visible text of the page, without markup, styles and the repeated title. */
function htmlMessage(html: string): string {
  const lower = html.toLowerCase();
  const start = lower.indexOf('<body');
  const end = lower.lastIndexOf('</body>');
  return words(start >= 0 && end > start ? html.slice(start, end) : html)
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#0?39;/g, "'")
    .replace(/&amp;/g, '&');
}

/** Elements with text that is not displayed. */
const hiddenElements = ['script', 'style', 'head'] as const;

/** The text between the tags, in linear time for any input. */
function words(html: string): string {
  const lower = html.toLowerCase();
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    parts.push(html.slice(at, open));
    const hidden = hiddenElements.find((name) => lower.startsWith(name, open + 1));
    const ending = hidden === undefined ? '>' : `</${hidden}>`;
    const close = lower.indexOf(ending, open);
    // An unclosed tag is text.
    if (close < 0) return [...parts, html.slice(open)].join(' ');
    at = close + ending.length;
  }
  return [...parts, html.slice(at)].join(' ');
}

function shorten(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters of a service stay out of our logs
  const line = text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  if (line === '') return undefined;
  return line.length <= longestMessage ? line : `${line.slice(0, longestMessage)}…`;
}
