/** Ordered messages for one reader, which takes them when it is ready. */
export class Inbox<T> {
  readonly #waiting: T[] = [];
  #reader: PromiseWithResolvers<T> | undefined;
  #ended: Error | undefined;

  put(item: T): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#waiting.push(item);
    else reader.resolve(item);
  }

  /** The reader gets this error after it has taken all messages. */
  end(error: Error): void {
    this.#ended ??= error;
    this.#reader?.reject(this.#ended);
    this.#reader = undefined;
  }

  take(): Promise<T> {
    if (this.#waiting.length > 0) {
      const [item] = this.#waiting.splice(0, 1);
      return Promise.resolve(item as T);
    }
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#reader = Promise.withResolvers<T>();
    return this.#reader.promise;
  }
}
