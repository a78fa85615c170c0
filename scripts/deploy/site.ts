/** A manifest, or a piece of one. */
export type Manifest = Readonly<Record<string, unknown>>;

type Scalar = string | number | boolean;

/**
 * Differences between installations. The same builders describe them for kustomize, with plain values, and
 * for the Helm chart, with expressions instead.
 */
export interface Site {
  /** Of everything except the nodes' part; pods there are restricted. */
  readonly namespace: string;
  /** Of the part that runs on nodes and needs privileges. */
  readonly nodeNamespace: string;
  /** Namespace of the nodes' reports: separate, because nodes may write all its ConfigMaps. */
  readonly reportsNamespace: string;
  readonly image: string;
  /** Annotations of a pod template that must roll when its configuration changes. */
  rollOn(configuration: string): Manifest;
  /** A value that a user of the chart may set. */
  value(path: string, fallback: Scalar, meaning: string): unknown;
  /** The same as text, which Kubernetes requires in some fields. */
  text(path: string, fallback: Scalar, meaning: string): string;
  /** The same for a whole object or list. */
  block(path: string, fallback: object, meaning: string): unknown;
  /** Additional items of a list. */
  items(path: string, fallback: readonly object[], meaning: string): readonly unknown[];
}

export const plainSite: Site = {
  namespace: 'causeway-system',
  nodeNamespace: 'causeway-node',
  reportsNamespace: 'causeway-reports',
  image: 'causeway:0.1.0',
  rollOn: () => ({}),
  value: (_path, fallback) => fallback,
  text: (_path, fallback) => String(fallback),
  block: (_path, fallback) => fallback,
  items: (_path, fallback) => fallback,
};

/** The same site with other values in some places. */
export const siteWith = (
  values: Readonly<Record<string, Scalar>>,
  items: Readonly<Record<string, readonly object[]>>,
): Site => ({
  ...plainSite,
  value: (path, fallback) => values[path] ?? fallback,
  text: (path, fallback) => String(values[path] ?? fallback),
  items: (path, fallback) => items[path] ?? fallback,
});

/** Labels of everything that belongs to a component. */
export const labelsOf = (component: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'causeway',
  'app.kubernetes.io/component': component,
});
