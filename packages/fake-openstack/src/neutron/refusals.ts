import { Refusal } from '../http/refusal.ts';

export function badRequest(message: string): Refusal {
  return new Refusal(400, message, { type: 'HTTPBadRequest' });
}

export function badResource(resource: string, message: string): Refusal {
  return new Refusal(400, `Bad ${resource} request: ${message}`, { type: 'BadRequest' });
}

export function invalidInput(message: string): Refusal {
  return new Refusal(400, `Invalid input for operation: ${message}`, { type: 'InvalidInput' });
}

export function invalidAttribute(name: string, reason: string): Refusal {
  return badRequest(`Invalid input for ${name}. Reason: ${reason}`);
}

export function conflict(type: string, message: string): Refusal {
  return new Refusal(409, message, { type });
}

export function notFound(type: string, message: string): Refusal {
  return new Refusal(404, message, { type });
}

export function disallowed(rule: string): Refusal {
  return new Refusal(403, `${rule} is disallowed by policy`, { type: 'PolicyNotAuthorized' });
}

export function noSuchResource(): Refusal {
  return notFound('HTTPNotFound', 'The resource could not be found.');
}
