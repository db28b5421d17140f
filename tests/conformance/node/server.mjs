// Starts the server under test for one test file, or uses the one REDRIVE_ENDPOINT names.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const startMillisecondsMax = 20_000;

function binaryPath() {
  return process.env.REDRIVE_BINARY || path.join(repository, 'build/release/redrive');
}

function readEndpoint(child) {
  return new Promise((resolve, reject) => {
    let seen = '';
    const timer = setTimeout(
      () => reject(new Error(`no 'redrive: listening on' line; saw ${JSON.stringify(seen)}`)),
      startMillisecondsMax,
    );
    const fail = (error) => {
      clearTimeout(timer);
      reject(error);
    };
    child.once('error', fail);
    child.once('exit', (code) => fail(new Error(`the server ended at once with ${code}`)));
    child.stdout.on('data', (chunk) => {
      seen += chunk;
      const found = /redrive: listening on (http:\/\/\S+)\n/.exec(seen);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    });
  });
}

// Returns { endpoint, stop }. `stop` ends the server with SIGTERM and resolves to its exit code.
export async function startServer() {
  if (process.env.REDRIVE_ENDPOINT) {
    return { endpoint: process.env.REDRIVE_ENDPOINT, stop: async () => 0 };
  }
  const options = ['serve', '--listen', '127.0.0.1:0', '--memory'];
  const child = spawn(binaryPath(), [...options, '--log-level', 'warn'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const endpoint = await readEndpoint(child);
    const stop = async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      return (await ended)[0];
    };
    return { endpoint, stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

export function connect(endpoint, settings = {}) {
  return new SQSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    ...settings,
  });
}

export function uniqueName(prefix = 'js', fifo = false) {
  return `${prefix}-${randomBytes(6).toString('hex')}${fifo ? '.fifo' : ''}`;
}
