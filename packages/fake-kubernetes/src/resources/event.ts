import type { JsonObject, KubeObject } from '../object.ts';
import { invalid, required, type FieldError } from '../schema/field-error.ts';
import { column, nameColumn, timeSince, wideColumn } from './columns.ts';
import { builtIn, type BuiltIn } from './definition.ts';
import { validateQualifiedName, validateUnchanged } from './field-rules.ts';

interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

interface Event extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  count?: number;
  series?: { count?: number; lastObservedTime?: string };
  type?: string;
  action?: string;
  related?: ObjectReference;
  reportingComponent?: string;
  reportingInstance?: string;
}

const isSet = (text: string | null | undefined) =>
  text !== undefined && text !== null && text !== '';

const shared = {
  plural: 'events',
  kind: 'Event',
  shortNames: ['ev'],
  createsOnUpdate: true,
  columns: [
    column<Event>('Last Seen', lastSeen),
    column<Event>('Type', ({ type }) => type ?? ''),
    column<Event>('Reason', ({ reason }) => reason ?? ''),
    column<Event>('Object', target),
    wideColumn<Event>('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? ''),
    wideColumn<Event>('Source', formatSource),
    column<Event>('Message', ({ message }) => (message ?? '').trim()),
    wideColumn<Event>('First Seen', firstSeen),
    wideColumn<Event>('Count', ({ count, series }) => series?.count ?? (count || 1)),
    { ...nameColumn, priority: 1 },
  ],
  defaults(draft: Event) {
    draft.involvedObject ??= {};
    draft.source ??= {};
  },
  prepareCreate: fillUnset,
  prepareUpdate: fillUnset,
} satisfies BuiltIn<Event>;

/** Sets the fields that an Event always shows, even if they are empty. */
function fillUnset(draft: Event): void {
  draft.firstTimestamp ??= null;
  draft.lastTimestamp ??= null;
  draft.eventTime ??= null;
  draft.reportingComponent ??= '';
  draft.reportingInstance ??= '';
}

export const events = builtIn<Event>({
  ...shared,
  fieldLabels: (event) => ({ ...commonLabels(event, 'involvedObject'), ...coreLabels(event) }),
  validate: (event) => validateEvent(event, 'reportingComponent'),
});

/**
 * The same Events in the newer group. They are stored in the older form; the newer form renames some fields.
 */
export const newEvents = builtIn<Event>({
  ...shared,
  group: 'events.k8s.io',
  view: {
    of: 'events',
    storageApiVersion: 'v1',
    toStored: (event) => renamedFields(event, ([stored, newer]) => [newer, stored]),
    fromStored: (event) => renamedFields(event, (pair) => pair),
  },
  fieldLabels: (event) => ({
    ...commonLabels(event, 'regarding'),
    reportingController: event.reportingComponent ?? '',
  }),
  validate(event, old) {
    const errors = validateEvent(event, 'reportingController');
    if (old === undefined) return [...errors, ...validateNewEvent(event)];
    const fixed = ['involvedObject', 'reason', 'message', 'type', 'action'] as const;
    return [...errors, ...fixed.flatMap((name) => validateUnchanged(event[name], old[name], name))];
  },
});

/** Field names in the stored form and in the newer form. */
const renamed: readonly (readonly [stored: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function renamedFields(
  object: KubeObject,
  direction: (pair: readonly [string, string]) => readonly [string, string],
): KubeObject {
  const names = new Map(renamed.map(direction));
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) result[names.get(name) ?? name] = value;
  return result as KubeObject;
}

function commonLabels(
  { involvedObject, reason, type }: Partial<Event>,
  prefix: string,
): Record<string, string> {
  const names = [
    'apiVersion',
    'fieldPath',
    'kind',
    'name',
    'namespace',
    'resourceVersion',
    'uid',
  ] as const;
  return {
    reason: reason ?? '',
    type: type ?? '',
    ...Object.fromEntries(names.map((name) => [`${prefix}.${name}`, involvedObject?.[name] ?? ''])),
  };
}

function coreLabels({ source, reportingComponent }: Event): Record<string, string> {
  const component = source?.component ?? '';
  return {
    reportingComponent: reportingComponent ?? '',
    source: component === '' ? (reportingComponent ?? '') : component,
  };
}

function validateEvent(event: Event, controllerName: string): FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  const involved = event.involvedObject.namespace ?? '';
  const mismatch = [
    invalid('involvedObject.namespace', involved, 'does not match event.namespace'),
  ];
  if (!isSet(event.eventTime)) {
    if (involved === '') return namespace === '' || namespace === 'default' ? [] : mismatch;
    return namespace === involved ? [] : mismatch;
  }
  const errors: FieldError[] = [];
  if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(...mismatch);
  }
  const controller = event.reportingComponent ?? '';
  if (controller === '') errors.push(required(controllerName));
  errors.push(...validateQualifiedName(controller, controllerName));
  errors.push(
    ...validateText(event.reportingInstance, 'reportingInstance', 128),
    ...validateText(event.action, 'action', 128),
    ...validateText(event.reason, 'reason', 128),
  );
  if ((event.message ?? '').length > 1024) {
    errors.push(invalid('message', '', 'can have at most 1024 characters'));
  }
  return errors;
}

function validateText(text: string | undefined, path: string, longest: number): FieldError[] {
  if (!isSet(text)) return [required(path)];
  return (text ?? '').length > longest
    ? [invalid(path, '', `can have at most ${longest} characters`)]
    : [];
}

function validateNewEvent(event: Event): FieldError[] {
  const errors: FieldError[] = [];
  if (!isSet(event.eventTime)) errors.push(required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(invalid('type', '', `has invalid value: ${event.type ?? ''}`));
  }
  const unset: readonly (readonly [string, boolean])[] = [
    ['firstTimestamp', isSet(event.firstTimestamp)],
    ['lastTimestamp', isSet(event.lastTimestamp)],
    ['count', (event.count ?? 0) !== 0],
    ['source', isSet(event.source?.component) || isSet(event.source?.host)],
  ];
  for (const [name, wrong] of unset) {
    if (wrong) errors.push(invalid(name, '', 'needs to be unset'));
  }
  return errors;
}

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return timeSince((isSet(firstTimestamp) ? firstTimestamp : eventTime) ?? undefined, now);
}

function lastSeen(event: Event, now: number): string {
  if (event.series !== undefined) return timeSince(event.series.lastObservedTime, now);
  const { lastTimestamp } = event;
  return isSet(lastTimestamp) ? timeSince(lastTimestamp ?? undefined, now) : firstSeen(event, now);
}

function target({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase();
  const name = involvedObject.name ?? '';
  return name === '' ? kind : `${kind}/${name}`;
}

function formatSource({ source, reportingComponent, reportingInstance }: Event): string {
  const component = isSet(source?.component) ? source?.component : reportingComponent;
  const host = isSet(source?.host) ? source?.host : reportingInstance;
  return [component, host].filter(isSet).join(', ');
}
