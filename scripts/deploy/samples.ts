/**
 * What users change first: the settings files of the overlays. Comments are for users; a test checks each
 * file against the job's settings.
 */
export const samples = {
  gateway: `# Settings of the controller. Every one of them: docs/reference/configuration.md.
defaultProvider: gateway            # serves Services without a loadBalancerClass
gateway:
  portManager: static               # or openstack, with subnets and clouds.yaml in the Secret
  addresses: [192.0.2.64/28]
  secretFile: /etc/causeway/secrets/agents.secret
  agents:
    - { name: gateway-1, url: 'http://192.0.2.11:15213' }
    - { name: gateway-2, url: 'http://192.0.2.12:15213' }
`,
  octavia: `# Settings of the controller. Every one of them: docs/reference/configuration.md.
defaultProvider: octavia            # serves Services without a loadBalancerClass
cloud: openstack                    # entry of clouds.yaml in the Secret
octavia:
  subnets: [00000000-0000-0000-0000-000000000000]
  # floatingNetwork: 00000000-0000-0000-0000-000000000000
`,
  pool: `# Settings of the controller. Every one of them: docs/reference/configuration.md.
defaultProvider: pool               # serves Services without a loadBalancerClass
pool:
  servers: ['https://causeway-ipam.causeway-system.svc:8444']
  site: edge-1
  cluster: blue
  tokenFile: /etc/causeway/secrets/ipam.token
  authorityFile: /etc/causeway/secrets/ipam-ca.crt
`,
  idling: `# Settings of the controller. Every one of them: docs/reference/configuration.md.
idling:
  automatic: true                   # Services annotated with causeway.dev/idle-after go to sleep
`,
  dashboard: `# Settings of the controller. Every one of them: docs/reference/configuration.md.
# The dashboard shows what the other parts do; here that is idling.
log: { level: info }
`,
  discovery: `# Settings of discovery. Every one of them: docs/reference/configuration.md.
backendName: openstack
secret: causeway-system/causeway-discovery-cloud
`,
  ipam: `# Settings of the allocator. Every one of them: docs/reference/configuration.md.
ledger: sqlite:/var/lib/causeway/ipam.db
tls:
  certificateFile: /etc/causeway/secrets/tls.crt
  keyFile: /etc/causeway/secrets/tls.key
`,
  proxy: `# Settings of the node's proxy. Every one of them: docs/reference/configuration.md.
insiders:
  networks: [10.244.0.0/16]         # where pods are
services: labelled                  # beside kube-proxy: Services with service.kubernetes.io/service-proxy-name
`,
  'proxy-in-place': `# Settings of the node's proxy. Every one of them: docs/reference/configuration.md.
insiders:
  networks: [10.244.0.0/16]         # where pods are
services: all                       # in kube-proxy's place
`,
} as const;
