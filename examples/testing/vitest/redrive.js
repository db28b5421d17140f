// A Redrive server of our own, in memory, whose time stands still until a test moves it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SQSClient } from '@aws-sdk/client-sqs';

export async function startRedrive(binary = process.env.REDRIVE_BINARY || 'redrive') {
  const options = ['serve', '--memory', '--virtual-clock', '--listen', '127.0.0.1:0'];
  const child = spawn(binary, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const endpoint = await readEndpoint(child);

  async function post(path, document = {}) {
    const body = JSON.stringify(document);
    const response = await fetch(`${endpoint}/_redrive/v1/${path}`, { method: 'POST', body });
    if (!response.ok) throw new Error(await response.text());
  }

  return {
    sqs: new SQSClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    }),
    // Everything due within these seconds has happened when this resolves.
    advance: (seconds) => post('clock/advance', { seconds }),
    reset: () => post('reset'),
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function readEndpoint(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /redrive: listening on (http:\/\/\S+)/.exec(line);
    if (!found) continue;
    child.stdout.resume(); // Nobody reads further lines, but a full pipe would stop the server.
    return found[1];
  }
  throw new Error('redrive did not start');
}
