import dgram from 'node:dgram';
import http from 'node:http';
import net from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { enterNetworkNamespace } from '@causeway/netlink/system-calls';
import type { EchoService, ServerAnswer, ServerRequest } from './namespace-servers.ts';
import { join } from './relay.ts';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import { listen } from '@causeway/base/network/listen';

/**
 * The servers in all namespaces. A thread creates its sockets in the namespace that it entered, and they stay
 * there when it moves on. So one thread serves all namespaces, one after another. It never returns to its
 * original namespace: the root of a user namespace may not. It leaves each namespace when its servers listen.
 * Otherwise a pod's namespace, with its links and routes, would outlive the pod.
 */
const idleNamespace = workerData as string;

const servers = new Map<string, (net.Server | dgram.Socket)[]>();

async function open({ pod, namespace, services }: Extract<ServerRequest, { kind: 'open' }>) {
  const made: (net.Server | dgram.Socket)[] = [];
  servers.set(pod, made);
  enterNetworkNamespace(namespace);
  for (const service of services) {
    const server = service.protocol === 'UDP' ? udpServer(pod, service) : tcpServer(pod, service);
    made.push(server);
    await listening(server);
  }
}

async function forward({ namespace, port, to }: Extract<ServerRequest, { kind: 'forward' }>) {
  const server = net.createServer((near) => join(near, { path: to }));
  servers.set(`${namespace}:${port}`, [server]);
  enterNetworkNamespace(namespace);
  await listen(server, { port, host: '127.0.0.1' });
}

function close(pod: string): void {
  for (const server of servers.get(pod) ?? []) server.close();
  servers.delete(pod);
}

function line(pod: string, address: string | undefined, port: number | undefined): string {
  const client = (address ?? 'unknown').replace('::ffff:', '');
  const host = client.includes(':') ? `[${client}]` : client;
  return `${pod} saw ${host}:${port ?? 0}\n`;
}

/** Answers HTTP requests, and echoes any other input after the first line. */
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

async function serve(request: ServerRequest): Promise<void> {
  if (request.kind === 'close') return close(request.pod);
  try {
    await (request.kind === 'open' ? open(request) : forward(request));
  } finally {
    enterNetworkNamespace(idleNamespace);
  }
}

const requests = new SerialQueue();
parentPort?.on('message', (request: ServerRequest) => {
  void requests.run(async () => {
    const answer: ServerAnswer = { id: request.id };
    try {
      await serve(request);
      parentPort?.postMessage(answer);
    } catch (error) {
      if (request.kind === 'open') close(request.pod);
      parentPort?.postMessage({ ...answer, error: String(error) });
    }
  });
});
