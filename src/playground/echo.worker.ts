import dgram from 'node:dgram';
import http from 'node:http';
import net from 'node:net';
import { parentPort } from 'node:worker_threads';
import { enterNetworkNamespace } from '../nftables/netlink/system-calls.ts';
import type { EchoAnswer, EchoRequest, EchoService } from './echo-service.ts';

/**
 * The servers of all pods. A thread that enters a namespace makes its sockets there, and they stay
 * there when it moves on; so one thread serves every pod, one after another.
 */

const servers = new Map<string, (net.Server | dgram.Socket)[]>();
const own = '/proc/self/ns/net';

async function open({ pod, namespace, services }: Extract<EchoRequest, { kind: 'open' }>) {
  const made: (net.Server | dgram.Socket)[] = [];
  servers.set(pod, made);
  enterNetworkNamespace(namespace);
  try {
    for (const service of services) {
      const server = service.protocol === 'UDP' ? udpServer(pod, service) : tcpServer(pod, service);
      made.push(server);
      await listening(server);
    }
  } finally {
    enterNetworkNamespace(own);
  }
}

function close(pod: string): void {
  for (const server of servers.get(pod) ?? []) server.close();
  servers.delete(pod);
}

const line = (pod: string, address: string | undefined, port: number | undefined) =>
  `${pod} saw ${(address ?? 'unknown').replace('::ffff:', '')}:${port ?? 0}\n`;

/** Answers HTTP to whoever speaks it, and sends everybody else their own words after the first line. */
function tcpServer(pod: string, { port }: EchoService): net.Server {
  const web = http.createServer((request, response) => {
    const { remoteAddress, remotePort } = request.socket;
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(line(pod, remoteAddress, remotePort));
  });
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (chunk) => {
      socket.pause();
      if (/^[A-Z]+ \S+ HTTP\/1/.test(chunk.toString('latin1'))) {
        socket.unshift(chunk);
        web.emit('connection', socket);
      } else {
        socket.write(line(pod, socket.remoteAddress, socket.remotePort));
        socket.write(chunk);
        socket.pipe(socket);
      }
      socket.resume();
    });
  });
  server.listen({ port });
  return server;
}

function udpServer(pod: string, { port }: EchoService): dgram.Socket {
  const socket = dgram.createSocket('udp6');
  socket.on('message', (message, { address, port: from }) => {
    socket.send(Buffer.concat([Buffer.from(line(pod, address, from)), message]), from, address);
  });
  socket.bind(port);
  return socket;
}

function listening(server: net.Server | dgram.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => resolve());
  });
}

let queue = Promise.resolve();
parentPort?.on('message', (request: EchoRequest) => {
  queue = queue.then(async () => {
    const answer: EchoAnswer = { id: request.id };
    try {
      if (request.kind === 'open') await open(request);
      else close(request.pod);
      parentPort?.postMessage(answer);
    } catch (error) {
      close(request.pod);
      parentPort?.postMessage({ ...answer, error: String(error) });
    }
  });
});
