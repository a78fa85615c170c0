/** Constants of linux/netlink.h, linux/netfilter/nfnetlink.h and nf_tables.h, under our names. */

export const netlinkRequest = 0x1;
export const netlinkAck = 0x4;
export const netlinkDump = 0x300;
export const netlinkDumpInterrupted = 0x10;
export const netlinkExclusive = 0x200;
export const netlinkCreate = 0x400;
export const netlinkAppend = 0x800;
/** On an error message: the attributes after the header explain it. */
export const netlinkAckAttributes = 0x200;

export const messageError = 2;
export const messageDone = 3;
export const batchBegin = 16;
export const batchEnd = 17;

export const subsystemNftables = 10;
export const subsystemConntrack = 1;
export const groupNftables = 7;
export const groupsConntrack = { new: 1, destroy: 3 } as const;
export const tableFamilies = { inet: 1, ip: 2, ip6: 10 } as const;

export const messages = {
  newTable: 0,
  getTable: 1,
  deleteTable: 2,
  newChain: 3,
  getChain: 4,
  deleteChain: 5,
  newRule: 6,
  getRule: 7,
  deleteRule: 8,
  newSet: 9,
  getSet: 10,
  deleteSet: 11,
  newElements: 12,
  getElements: 13,
  deleteElements: 14,
  newGeneration: 15,
  getGeneration: 16,
} as const;

export const tableAttribute = { name: 1, flags: 2, owner: 7 } as const;
export const tableFlags = { owner: 0x2, persist: 0x4 } as const;

export const chainAttribute = { table: 1, name: 3, hook: 4, policy: 5, type: 7 } as const;
export const hookAttribute = { number: 1, priority: 2 } as const;
export const hookNumbers = {
  prerouting: 0,
  input: 1,
  forward: 2,
  output: 3,
  postrouting: 4,
} as const;

export const ruleAttribute = { table: 1, chain: 2, expressions: 4, userdata: 7 } as const;
export const listElement = 1;
export const expressionAttribute = { name: 1, data: 2 } as const;

export const setAttribute = {
  table: 1,
  name: 2,
  flags: 3,
  keyType: 4,
  keyLength: 5,
  dataType: 6,
  dataLength: 7,
  description: 9,
  id: 10,
  userdata: 13,
  expression: 17,
} as const;
export const descriptionSize = 1;
export const setFlags = { interval: 0x4, map: 0x8, timeout: 0x10, evaluate: 0x20 } as const;
export const verdictDataType = 0xffffff00;

export const elementsAttribute = { table: 1, set: 2, elements: 3 } as const;
export const elementAttribute = {
  key: 1,
  data: 2,
  flags: 3,
  timeout: 4,
  expression: 7,
  expressions: 11,
} as const;
export const elementIntervalEnd = 0x1;

export const dataAttribute = { value: 1, verdict: 2 } as const;
export const verdictAttribute = { code: 1, chain: 2 } as const;
export const verdictCodes = { drop: 0, accept: 1, jump: -3, goto: -4, return: -5 } as const;

export const generationAttribute = { id: 1 } as const;
export const batchGeneration = 1;

/** nft's own type numbers, which it stores with a set to print it. */
export const typeNumbers = {
  ipv4_addr: 7,
  ipv6_addr: 8,
  inet_proto: 12,
  inet_service: 13,
  /** nft's type for a number in the machine's byte order is a mark. */
  slot: 19,
} as const;
export const integerTypeNumber = 4;
export const typeBits = 6;
