import type { z } from 'zod';

/** Permitted callers: an operator; the cluster of the path, or an operator; any credential of the site. */
export type Access = 'operator' | 'cluster' | 'site';

/** One call of the API as data: the server, the client and the OpenAPI document use it. */
export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** With `{name}` for parameters, as in OpenAPI. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
}

export function operation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(definition: Operation<Params, Query, Body, Answer>): Operation<Params, Query, Body, Answer> {
  return definition;
}
