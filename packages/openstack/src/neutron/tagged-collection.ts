import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '../call.ts';
import { Collection } from '../collection.ts';
import { item } from '../route.ts';

/** A collection of objects with tags. */
export class TaggedCollection<
  Resource extends { readonly id: string; readonly tags: readonly string[] },
  Spec extends object,
  Change extends object,
  Filter extends object,
> extends Collection<Resource, Spec, Change, Filter> {
  /** Replaces the object's tags. One request, for any characters in the tags. */
  async replaceTags(id: string, tags: readonly string[], call: CallOptions): Promise<void> {
    const unusable = tags.find((tag) => tag === '' || tag.length > 60 || tag.includes(','));
    if (unusable !== undefined) {
      throw new CausewayError('invalid', `${JSON.stringify(unusable)} cannot be a tag`, {
        hint: 'A tag has 1 to 60 characters and no comma.',
      });
    }
    await this.client.putQuietly(item(this.kind.route, id, '/tags'), { tags }, call);
  }

  /** A tag with a slash can't be part of a URL, so the whole set is written when a tag is added. */
  async addTag(id: string, tag: string, call: CallOptions): Promise<void> {
    const { tags } = await this.get(id, call);
    if (!tags.includes(tag)) await this.replaceTags(id, [...tags, tag], call);
  }

  async removeTag(id: string, tag: string, call: CallOptions): Promise<void> {
    const { tags } = await this.get(id, call);
    if (!tags.includes(tag)) return;
    const others = tags.filter((other) => other !== tag);
    await this.replaceTags(id, others, call);
  }
}
