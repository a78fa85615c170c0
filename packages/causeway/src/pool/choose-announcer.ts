import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { poolAnnouncers } from '../ipam/records.ts';
import { announcerAnnotation } from './annotations.ts';
import { announcerOfClass, announcers, type Announcer, type AnnouncerName } from './announcer.ts';

export const poolClass = 'causeway.dev/pool';

/** Everything that decides which announcer a Service uses, in order of precedence. */
export interface AnnouncerHints {
  /** The Service's annotation. */
  readonly named: AnnouncerName | undefined;
  /** The controller's settings. */
  readonly configured: AnnouncerName | undefined;
  /** The announcer that announces the Service already. */
  readonly present: AnnouncerName | undefined;
  /** The announcer of the pool, from the ledger. */
  readonly ofPool: string | undefined;
  /** The announcers found in the cluster. */
  readonly found: readonly AnnouncerName[];
}

export type AnnouncerChoice =
  | { readonly kind: 'announcer'; readonly announcer: Announcer }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

/**
 * Chooses the announcer of the Service. `classes` are the classes that the announcer is configured to serve.
 */
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
      `${title} does not serve the class ${className}. Create the Service without a class${own}, ` +
      `or configure ${title} to serve ${className} and list that class in pool.classes.`,
  };
}

/**
 * A newer ledger may know more announcers than this version. A wrong guess would leave the address
 * unannounced.
 */
function notKnown(ofPool: string): AnnouncerChoice {
  return {
    kind: 'refused',
    reason: 'UnknownAnnouncer',
    message:
      `The announcer of the pool is ${JSON.stringify(ofPool)}, which this version does not know. ` +
      `Known announcers are ${poolAnnouncers.join(', ')}: name one in the annotation ${announcerAnnotation}, or update the controller.`,
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
    message: `${what}. Name one in the annotation ${announcerAnnotation} or in pool.announcer.`,
  };
}
