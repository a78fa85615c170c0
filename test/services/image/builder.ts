import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { runOrThrow } from '../run-program.ts';
import { unpackDebianPackages } from '../unpacked-packages.ts';

const packages = [
  ...['buildah', 'debootstrap', 'golang-github-containers-common'],
  ...['golang-github-containers-image', 'libassuan0', 'libdevmapper1.02.1', 'libgpgme11'],
];

/** buildah, with everything that it writes in the cache. */
export class ImageBuilder {
  readonly packages: string;
  readonly #directory: string;

  private constructor(unpacked: string, directory: string) {
    this.packages = unpacked;
    this.#directory = directory;
  }

  static async prepare(): Promise<ImageBuilder> {
    const directory = cacheDirectory('buildah');
    for (const name of ['etc', 'etc-work', 'varlib', 'tmp']) {
      await fs.mkdir(path.join(directory, name), { recursive: true });
    }
    await fs.writeFile(
      path.join(directory, 'storage.conf'),
      `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/storage"\nrunroot = "${directory}/run"\n`,
    );
    return new ImageBuilder(await unpackDebianPackages(packages), directory);
  }

  async hasImage(name: string): Promise<boolean> {
    const names = await this.#buildah('images', '--format', '{{.Name}}:{{.Tag}}');
    return names.split('\n').includes(name);
  }

  /** Adds an image from an archive of the tests. */
  async add(archive: string, name: string): Promise<void> {
    const id = await this.#buildah('pull', '-q', ...this.#policy(), `oci-archive:${archive}`);
    await this.#buildah('tag', id.trim(), name);
  }

  /** Builds a Dockerfile. Layers with the same instructions and files are reused. */
  async build(
    context: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.#buildah(
      ...['build', '--pull-never', '--layers', '--isolation', 'chroot', ...this.#policy()],
      ...Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
      ...['--tag', name, context],
    );
  }

  async save(name: string, archive: string): Promise<void> {
    await fs.rm(`${archive}.part`, { force: true });
    const target = `docker-archive:${archive}.part:${name}`;
    await this.#buildah('push', '-q', ...this.#policy(), name, target);
    await fs.rename(`${archive}.part`, archive);
  }

  #policy(): string[] {
    return ['--signature-policy', path.join(this.packages, 'etc/containers/policy.json')];
  }

  /** In its own mounts: its libraries overlay the system's, and its writes to /etc and /var/lib stay here. */
  #buildah(...words: string[]): Promise<string> {
    const script = `
      lib=/usr/lib/$(uname -m)-linux-gnu
      mount -t overlay -o "lowerdir=$0$lib:$lib" overlay "$lib"
      mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc,workdir=$1/etc-work" overlay /etc
      mount --bind "$1/varlib" /var/lib
      shift
      exec "$0/usr/bin/buildah" "$@"`;
    return runOrThrow(
      'unshare',
      ['--mount', '--propagation', 'private']
        .concat(['sh', '-euc', script, this.packages, this.#directory])
        .concat(words),
      {
        env: {
          TMPDIR: path.join(this.#directory, 'tmp'),
          CONTAINERS_STORAGE_CONF: path.join(this.#directory, 'storage.conf'),
          CONTAINERS_CONF: path.join(this.packages, 'usr/share/containers/containers.conf'),
          CONTAINERS_REGISTRIES_CONF: path.join(this.packages, 'etc/containers/registries.conf'),
        },
        timeoutMs: 1_800_000,
      },
    );
  }
}
