import fs from 'node:fs';
import path from 'node:path';
import koffi from 'koffi';
import { settingsDirectory } from './kernel-settings.ts';
import { SystemCallError } from './system-calls.ts';
import { openTogether } from '@causeway/base/work/open-together';

const libc = koffi.load(null);
const ioctlCall = libc.func('int ioctl(int fd, unsigned long request, void *argument)') as (
  fd: number,
  request: number,
  argument: Buffer,
) => number;
const socketCall = libc.func('int socket(int domain, int type, int protocol)') as (
  domain: number,
  type: number,
  protocol: number,
) => number;

/** Constants of linux/if_tun.h and linux/sockios.h. */
const setInterface = 0x400454ca;
const tunWithoutHeader = 0x1001;
const getFlags = 0x8913;
const setFlags = 0x8914;
const setAddress = 0x8916;
const setNetmask = 0x891c;
const getIndex = 0x8933;
const isUp = 1;
const inet = 2;
const inet6 = 10;
const datagram = 2;
const closeOnExec = 0x80000;

const nameLength = 16;
const requestLength = 40;
/** The dummy address for devices that need one (RFC 7600). */
const dummyAddress = [192, 0, 0, 8];
const oneHost = [255, 255, 255, 255];
/** The same for IPv6: 100:0:0:1::8, from the dummy prefix of RFC 9780. */
const dummyAddress6 = Buffer.from('01000000000000010000000000000008', 'hex');
const oneHost6 = 128;

/**
 * Creates a device through which packets enter the machine as if they came from the network, and returns its
 * descriptor. The kernel removes the device when the descriptor is closed.
 */
export function openTunDevice(name: string, directory = settingsDirectory): number {
  return openTogether((keep) => {
    const device = keep(fs.openSync('/dev/net/tun', 'r+'), fs.closeSync);
    setUp(device, name, directory);
    return device;
  });
}

function setUp(device: number, name: string, directory: string): void {
  const request = requestFor(name);
  request.writeUInt16LE(tunWithoutHeader, nameLength);
  call('make the TUN device', device, setInterface, request);
  // Packets have any source, including this machine; the routes back are the ordinary ones.
  const settings = path.join(directory, 'net', 'ipv4', 'conf', name);
  fs.writeFileSync(path.join(settings, 'rp_filter'), '2');
  fs.writeFileSync(path.join(settings, 'accept_local'), '1');
  const socket = socketCall(inet, datagram | closeOnExec, 0);
  try {
    call('give it an address', socket, setAddress, addressRequest(name, dummyAddress));
    call('narrow its network', socket, setNetmask, addressRequest(name, oneHost));
    const flags = requestFor(name);
    call('read its flags', socket, getFlags, flags);
    flags.writeUInt16LE(flags.readUInt16LE(nameLength) | isUp, nameLength);
    call('set it up', socket, setFlags, flags);
    if (hasIpv6(name, directory)) addIpv6Address(name, socket);
  } finally {
    fs.closeSync(socket);
  }
}

/** False if the kernel has no IPv6, or if IPv6 is disabled for the device. */
function hasIpv6(name: string, directory: string): boolean {
  const file = path.join(directory, 'net', 'ipv6', 'conf', name, 'disable_ipv6');
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8').trim() === '0';
}

/**
 * A packet that is redirected to a listener gets an address of this device as its destination. With a
 * link-local address, the next packets of the connection would be lost, because they arrive on another
 * device.
 */
function addIpv6Address(name: string, socket: number): void {
  const index = requestFor(name);
  call('find its index', socket, getIndex, index);
  const request = Buffer.alloc(24);
  dummyAddress6.copy(request);
  request.writeUInt32LE(oneHost6, 16);
  request.writeInt32LE(index.readInt32LE(nameLength), 20);
  const socket6 = socketCall(inet6, datagram | closeOnExec, 0);
  try {
    call('give it an IPv6 address', socket6, setAddress, request);
  } finally {
    fs.closeSync(socket6);
  }
}

function requestFor(name: string): Buffer {
  const request = Buffer.alloc(requestLength);
  request.write(name, 0, nameLength - 1, 'latin1');
  return request;
}

function addressRequest(name: string, address: readonly number[]): Buffer {
  const request = requestFor(name);
  request.writeUInt16LE(inet, nameLength);
  request.set(address, nameLength + 4);
  return request;
}

function call(what: string, fd: number, request: number, argument: Buffer): void {
  if (ioctlCall(fd, request, argument) < 0) {
    throw new SystemCallError(`ioctl to ${what}`, koffi.errno());
  }
}
