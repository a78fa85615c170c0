import { tryParseAddress } from '@causeway/base/address/address';
import { withoutLeadingZeros } from '@causeway/base/address/leading-zeros';

/**
 * The string formats that the API server checks. Names are compared without dashes (`date-time` is
 * `datetime`). An unknown format is not checked.
 */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  byte: isBase64,
  cidr: isCidr,
  date: isDate,
  datetime: isDateTime,
  duration: (text) =>
    /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*$/.test(
      text,
    ) ||
    /^\d+\s*(?:ns|us|ms|s|m|h|d|w|nanos?|micros?|millis?|seconds?|minutes?|hours?|days?|weeks?)$/.test(
      text,
    ),
  email: (text) => /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && isLooseAddress(text),
  ipv6: (text) => text.includes(':') && isLooseAddress(text),
  k8slongname: (text) =>
    text.length <= 253 &&
    /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(text),
  k8sshortname: (text) => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text),
  mac: (text) =>
    /^(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}$/.test(text) ||
    /^(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/.test(text),
  password: () => true,
  uri: isRequestUri,
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
};

/** Whether the text has the format. Every text fits an unchecked format. */
export function fitsFormat(format: string, text: string): boolean {
  const check = checks[format.replaceAll('-', '')];
  return check === undefined || check(text);
}

export function isCheckedFormat(format: string): boolean {
  return Object.hasOwn(checks, format.replaceAll('-', ''));
}

const longestAddress = 128;

/** An address in the lenient notation of these formats, which allows leading zeros in octets. */
function isLooseAddress(text: string): boolean {
  return text.length <= longestAddress && tryParseAddress(withoutLeadingZeros(text)) !== undefined;
}

function isCidr(text: string): boolean {
  const match = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match?.[1] ?? '';
  return isLooseAddress(address) && Number(match?.[2]) <= (address.includes(':') ? 128 : 32);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const match =
    /^(\d{4}-\d{2}-\d{2})[tT](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[zZ]|[+-]\d{2}:\d{2})$/.exec(text);
  if (match === null) return false;
  const [hour, minute, second] = [Number(match[2]), Number(match[3]), Number(match[4])];
  return isDate(match[1] ?? '') && hour <= 23 && minute <= 59 && second <= 60;
}

function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 255) return false;
  return text
    .split('.')
    .every((label) =>
      /^[\p{L}\p{N}\p{S}](?:[\p{L}\p{N}\p{S}-]{0,61}[\p{L}\p{N}\p{S}])?$/u.test(label),
    );
}

/** An absolute URI or an absolute path, as in a request line. */
function isRequestUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text)) return false;
  if (text.startsWith('/')) return true;
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:.+/.test(text) && URL.canParse(text);
}
