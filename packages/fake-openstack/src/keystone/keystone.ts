import { addAdministrationRoutes } from './administration.ts';
import { Keystone, type KeystoneOptions } from './api.ts';
import { addApplicationCredentialRoutes } from './application-credentials.ts';
import { addTokenRoutes } from './token-routes.ts';

/** Creates Keystone without users. */
export function createKeystone(options: KeystoneOptions): Keystone {
  const keystone = new Keystone(options);
  addTokenRoutes(keystone);
  addAdministrationRoutes(keystone);
  addApplicationCredentialRoutes(keystone);
  return keystone;
}
