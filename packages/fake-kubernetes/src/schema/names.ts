/**
 * The API server's rules for names. Each rule returns a list of error messages. An absent name counts as
 * empty.
 */

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const label1123Pattern = new RegExp(`^${label1123}$`);
const label1035Pattern = new RegExp(`^${label1035}$`);
const subdomainPattern = new RegExp(`^${label1123}(\\.${label1123})*$`);
const qualifiedPattern = new RegExp(`^${qualified}$`);
const labelValuePattern = new RegExp(`^(${qualified})?$`);

function lengthError(text: string, maximum: number): string[] {
  return Buffer.byteLength(text) > maximum ? [`must be no more than ${maximum} bytes`] : [];
}

function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (${list === '' ? '' : 'e.g. '}${list}regex used for validation is '${pattern}')`;
}

export function dnsLabelErrors(text = ''): string[] {
  const errors = lengthError(text, 63);
  if (!label1123Pattern.test(text)) {
    const message =
      subdomainPattern.test(text) && text.includes('.')
        ? 'must not contain dots'
        : regexError(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            label1123,
            'my-name',
            '123-abc',
          );
    errors.push(message);
  }
  return errors;
}

export function dns1035LabelErrors(text = ''): string[] {
  const errors = lengthError(text, 63);
  if (!label1035Pattern.test(text)) {
    errors.push(
      regexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return errors;
}

export function subdomainErrors(text = ''): string[] {
  const errors = lengthError(text, 253);
  if (!subdomainPattern.test(text)) {
    errors.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        `${label1123}(\\.${label1123})*`,
        'example.com',
      ),
    );
  }
  return errors;
}

/** Names that have to be valid path segments, for example of embedded resources. */
export function pathSegmentErrors(text = ''): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%']
    .filter((sign) => text.includes(sign))
    .map((sign) => `may not contain '${sign}'`);
}

export function labelKeyErrors(text = ''): string[] {
  return qualifiedNameErrors(text, 'a valid label key');
}

export function labelValueErrors(text = ''): string[] {
  const errors = lengthError(text, 63);
  if (!labelValuePattern.test(text)) {
    errors.push(
      regexError(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${qualified})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return errors;
}

/** A label key or a finalizer: a name, optionally with a domain and a slash in front. */
export function qualifiedNameErrors(text = '', what = 'a qualified name'): string[] {
  const parts = text.split('/');
  const sentence =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const examples = ['MyName', 'my.name', '123-abc'] as const;
  if (parts.length > 2) {
    const message = regexError(`${what} ${sentence}`, qualified, ...examples);
    return [`${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    errors.push(
      ...(prefix === '' ? ['must be non-empty'] : subdomainErrors(prefix)).map(
        (error) => `prefix part ${error}`,
      ),
    );
  }
  if (name === '') errors.push('name part must be non-empty');
  else errors.push(...lengthError(name, 63).map((error) => `name part ${error}`));
  if (!qualifiedPattern.test(name)) {
    errors.push(`name part ${regexError(sentence, qualified, ...examples)}`);
  }
  return errors;
}
