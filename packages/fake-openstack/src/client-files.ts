import { accounts, type Account } from './seed.ts';

/** A clouds.yaml with one cloud for each account. The text is JSON, which is also valid YAML. */
export function cloudsYaml(authUrl: string, region: string): string {
  const entry = (account: Account) => ({
    region_name: region,
    identity_api_version: 3,
    auth: {
      auth_url: authUrl,
      username: account.user,
      password: account.password,
      user_domain_name: account.domain,
      project_name: account.project,
      project_domain_name: account.domain,
    },
  });
  const clouds = Object.fromEntries(
    Object.entries(accounts).map(([name, account]) => [name, entry(account)] as const),
  );
  return `${JSON.stringify({ clouds }, undefined, 2)}\n`;
}

/** The environment variables of the account `demo`, as a shell file. */
export function openrc(authUrl: string, region: string): string {
  const { user, password, domain, project } = accounts.demo;
  const variables = {
    OS_AUTH_URL: authUrl,
    OS_IDENTITY_API_VERSION: '3',
    OS_REGION_NAME: region,
    OS_USERNAME: user,
    OS_PASSWORD: password,
    OS_USER_DOMAIN_NAME: domain,
    OS_PROJECT_NAME: project,
    OS_PROJECT_DOMAIN_NAME: domain,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${value}\n`)
    .join('');
}
