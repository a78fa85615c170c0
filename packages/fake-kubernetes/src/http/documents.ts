import type { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import {
  documentFor,
  documentIndex,
  version2Document,
  version2Protobuf,
} from '../openapi/document.ts';
import {
  aggregatedDiscovery,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
} from './discovery.ts';
import { wantsAggregatedDiscovery } from './negotiation.ts';

export interface Document {
  readonly contentType: string;
  readonly body: string;
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The media type in the request and the one in the response. Go doesn't accept the first as a media type. */
const protobufAsked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+causeway',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'linux/amd64',
};

/** Serves all documents that are not objects: discovery, schemas, version and health. */
export class Documents {
  readonly #cluster: EmbeddedCluster;
  readonly #address: string;
  /** Valid for one revision of the registry. */
  readonly #cache = new Map<string, Document | undefined>();
  #revision = -1;

  constructor(cluster: EmbeddedCluster, address: string) {
    this.#cluster = cluster;
    this.#address = address;
  }

  get(path: string, accept: string | undefined): Document | undefined {
    if (path === '/openapi/v2' && accept?.includes(protobufAsked) === true) {
      return { contentType: protobufType, body: version2Protobuf() };
    }
    const { revision } = this.#cluster.registry;
    if (revision !== this.#revision) this.#cache.clear();
    this.#revision = revision;
    const aggregated = wantsAggregatedDiscovery(accept) && (path === '/api' || path === '/apis');
    const key = `${aggregated ? 'aggregated ' : ''}${path}`;
    if (!this.#cache.has(key)) this.#cache.set(key, this.#make(path, aggregated));
    return this.#cache.get(key);
  }

  #make(path: string, aggregated: boolean): Document | undefined {
    const served = this.#cluster.registry.all();
    if (aggregated) return json(aggregatedDiscovery(served, path === '/api'), aggregatedType);
    if (path.startsWith('/openapi/v3/')) {
      return json(documentFor(served, path.slice('/openapi/v3/'.length)));
    }
    switch (path) {
      case '/':
        return json({ paths: ['/api', '/api/v1', '/apis', '/healthz', '/openapi/v3', '/version'] });
      case '/api':
        return json(coreVersions(this.#address));
      case '/apis':
        return json(groupList(served));
      case '/version':
        return json(versionInfo);
      case '/openapi/v2':
        return json(version2Document(served));
      case '/openapi/v3':
        return json(documentIndex(served));
      case '/healthz':
      case '/livez':
      case '/readyz':
        return { contentType: 'text/plain; charset=utf-8', body: 'ok' };
      default:
        return json(this.#groupOrVersion(path));
    }
  }

  #groupOrVersion(path: string): object | undefined {
    const served = this.#cluster.registry.all();
    const [root, group, version, ...rest] = path.split('/').slice(1);
    if (root === 'api' && group !== undefined && version === undefined) {
      return resourceList(served, '', group);
    }
    if (root !== 'apis' || group === undefined || rest.length > 0) return undefined;
    return version === undefined
      ? groupDocument(served, group)
      : resourceList(served, group, version);
  }
}

const json = (value: object | undefined, contentType = 'application/json') =>
  value === undefined ? undefined : { contentType, body: JSON.stringify(value) };
