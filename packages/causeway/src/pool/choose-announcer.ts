import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { poolAnnouncers } from '../ipam/records.ts';
import { announcerAnnotation } from './annotations.ts';
import { announcerOfClass, announcers, type Announcer, type AnnouncerName } from './announcer.ts';

export const poolClass = 'causeway.dev/pool';

/** Everything that says who announces a Service, the strongest first. */
export interface AnnouncerHints {
  /** The Service's annotation. */
  readonly named: AnnouncerName | undefined;
  /** The controller's settings. */
  readonly configured: AnnouncerName | undefined;
  /** Who announces it already. */
  readonly present: AnnouncerName | undefined;
  /** The pool's, from the server. */
  readonly ofPool: string | undefined;
  /** What was found in the cluster. */
  readonly found: readonly AnnouncerName[];
}

export type AnnouncerChoice =
  | { readonly kind: 'announcer'; readonly announcer: Announcer }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

/** Who announces the Service. `classes` are those that the announcer was told to look at. */
export function chooseAnnouncer(
  service: Service,
  hints: AnnouncerHints,
  classes: readonly string[],
): AnnouncerChoice {
  const className = service.spec?.loadBalancerClass;
  const { named, configured, present, ofPool, found } = hints;
  const fromPool = poolAnnouncers.find((each) => each === ofPool);
  const stated = named ?? configured ?? present ?? fromPool;
  if (stated === undefined && ofPool !== undefined) return notKnown(ofPool);
  const decided = stated ?? announcerOfClass(className);
  const name = decided ?? (found.length === 1 ? found[0] : undefined);
  if (name === undefined) return notFound(found);
  const announcer = announcers[name];
  if (className === undefined || announcer.statusWriter === 'controller') {
    return { kind: 'announcer', announcer };
  }
  if (announcer.ownClasses.includes(className) || classes.includes(className)) {
    return { kind: 'announcer', announcer };
  }
  const { title, ownClasses } = announcer;
  const own = ownClasses.length === 0 ? '' : ` or with the class ${ownClasses.join(' or ')}`;
  return {
    kind: 'refused',
    reason: 'ForeignClass',
    message:
      `${title} does not look at Services of the class ${className}. Create it without a class${own}, ` +
      `or have ${title} serve ${className} and list that class in pool.classes.`,
  };
}

/** A newer server may know more announcers than we do. Who announces is not to be guessed then. */
function notKnown(ofPool: string): AnnouncerChoice {
  return {
    kind: 'refused',
    reason: 'UnknownAnnouncer',
    message:
      `The pool is announced by ${JSON.stringify(ofPool)}, which this version does not know. ` +
      `Known are ${poolAnnouncers.join(', ')}: say which one in the annotation ${announcerAnnotation}, or update the controller.`,
  };
}

function notFound(found: readonly AnnouncerName[]): AnnouncerChoice {
  const what =
    found.length === 0
      ? 'No announcer was found in this cluster'
      : `Several announcers are in this cluster (${found.join(', ')})`;
  return {
    kind: 'refused',
    reason: 'NoAnnouncer',
    message: `${what}. Say which one in the annotation ${announcerAnnotation} or in pool.announcer.`,
  };
}
