import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '../run-program.ts';

export interface ImageContent {
  readonly name: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly user?: string;
}

const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Writes an archive (an OCI image layout) of images that all contain the files of a directory, in one layer.
 * `ctr images import` reads it.
 */
export async function writeImages(
  archive: string,
  root: string,
  images: readonly ImageContent[],
): Promise<void> {
  const layout = `${archive}.layout`;
  await fs.rm(layout, { recursive: true, force: true });
  await fs.mkdir(path.join(layout, 'blobs', 'sha256'), { recursive: true });
  const layer = await addLayer(layout, root);
  const manifests = [];
  for (const image of images) manifests.push(await addImage(layout, layer, image));
  await fs.writeFile(path.join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await fs.writeFile(
    path.join(layout, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests }),
  );
  await runOrThrow('tar', ['--create', '--file', `${archive}.part`, '--directory', layout, '.']);
  await fs.rename(`${archive}.part`, archive);
  await fs.rm(layout, { recursive: true });
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

async function addLayer(layout: string, root: string): Promise<Blob> {
  const file = path.join(layout, 'layer.tar');
  await runOrThrow('tar', [
    ...['--create', '--file', file, '--directory', root, '--sort=name'],
    ...['--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '.'],
  ]);
  const hash = createHash('sha256');
  const opened = await fs.open(file);
  for await (const chunk of opened.createReadStream()) hash.update(chunk as Buffer);
  const digest = hash.digest('hex');
  const { size } = await fs.stat(file);
  await fs.rename(file, path.join(layout, 'blobs', 'sha256', digest));
  const mediaType = 'application/vnd.oci.image.layer.v1.tar';
  return { mediaType, digest: `sha256:${digest}`, size };
}

async function addImage(layout: string, layer: Blob, image: ImageContent): Promise<object> {
  const platform = { architecture: architectures[process.arch], os: 'linux' };
  const config = await addJson(layout, 'application/vnd.oci.image.config.v1+json', {
    ...platform,
    config: {
      Env: [searchPath],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
      ...(image.user === undefined ? {} : { User: image.user }),
    },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
    // buildah counts them.
    history: [{ created_by: 'tests of causeway' }],
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const content = { schemaVersion: 2, mediaType, config, layers: [layer] };
  const manifest = await addJson(layout, mediaType, content);
  return { ...manifest, platform, annotations: { 'io.containerd.image.name': image.name } };
}

async function addJson(layout: string, mediaType: string, content: object): Promise<Blob> {
  const text = JSON.stringify(content);
  const digest = createHash('sha256').update(text).digest('hex');
  await fs.writeFile(path.join(layout, 'blobs', 'sha256', digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
