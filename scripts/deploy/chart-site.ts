import { settingsName } from './pods.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

/** A value that users of the chart may set. */
export interface ChartValue {
  readonly path: string;
  readonly fallback: unknown;
  readonly meaning: string;
}

/** Delimits an expression of the template; nothing else in a manifest has these characters. */
const expression = (text: string) => `⟪${text}⟫`;

/** Returns expressions of the template, and collects the values that users may set. */
export class ChartSite implements Site {
  readonly values = new Map<string, ChartValue>();
  readonly namespace = expression('.Release.Namespace');
  readonly nodeNamespace: string;
  readonly reportsNamespace: string;
  readonly image: string;

  constructor() {
    this.nodeNamespace = this.text(
      'nodeNamespace',
      'causeway-node',
      'namespace of the proxy; its pods need privileges',
    );
    this.reportsNamespace = this.text(
      'reportsNamespace',
      'causeway-reports',
      'namespace in which nodes report the activity of Services',
    );
    const repository = this.path('image.repository', 'causeway', 'repository of the image');
    const tag = this.path('image.tag', '', 'version of the image; default: that of the chart');
    this.image = expression(
      `printf "%s:%s" ${repository} (${tag} | default .Chart.AppVersion) | quote`,
    );
  }

  rollOn(job: string): Manifest {
    return { 'checksum/config': expression(`toYaml .Values.${job}.config | sha256sum`) };
  }

  value(path: string, fallback: unknown, meaning: string): string {
    return expression(this.path(path, fallback, meaning));
  }

  text(path: string, fallback: unknown, meaning: string): string {
    return expression(`${this.path(path, fallback, meaning)} | quote`);
  }

  block(path: string, fallback: object, meaning: string): string {
    return expression(`block ${this.path(path, fallback, meaning)}`);
  }

  items(path: string, fallback: readonly object[], meaning: string): string[] {
    return [expression(`items ${this.path(path, fallback, meaning)}`)];
  }

  /** Path of a value, for conditions. */
  path(path: string, fallback: unknown, meaning: string): string {
    this.values.set(path, { path, fallback, meaning });
    return `.Values.${path}`;
  }

  /** The settings of a job from users: below their values, or as a file (`--set-file`). */
  settings(job: string, namespace: string): Manifest {
    const config = this.path(
      `${job}.config`,
      null,
      'settings of the job, or the text of their file: docs/reference/configuration.md',
    );
    const asMap = `(${config} | default dict | toYaml)`;
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: settingsName(job), namespace, labels: labelsOf(job) },
      data: {
        [`${job}.yaml`]: expression(
          `kindIs "string" ${config} | ternary ${config} ${asMap} | quote`,
        ),
      },
    };
  }
}

/** Replaces delimited expressions; lists and objects are indented below their key. */
export function fillTemplate(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) => {
      const indent = /^ */.exec(line)?.[0].length ?? 0;
      const items = /^ *- ⟪items (.*)⟫$/.exec(line)?.[1];
      if (items !== undefined) {
        return `{{- with ${items} }}{{ toYaml . | nindent ${indent} }}{{- end }}`;
      }
      const block = /^(.*): ⟪block (.*)⟫$/.exec(line);
      if (block !== null) return `${block[1]}: {{- toYaml ${block[2]} | nindent ${indent + 2} }}`;
      return line.replaceAll(/⟪([^⟪⟫]*)⟫/g, '{{ $1 }}');
    })
    .join('\n');
}
