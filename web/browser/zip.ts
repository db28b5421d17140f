// A zip archive with stored (uncompressed) files, for the code of functions.

const kTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const b of bytes) c = (kTable[(c ^ b) & 0xff] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const kDate = 0x5821; // 2024-01-01: the same archive each time.

// A local header, or with an offset one of the central directory.
function header(name: Buffer, data: Buffer, offset?: number): Buffer {
  const central = offset !== undefined;
  const out = Buffer.alloc(central ? 46 : 30);
  let at = out.writeUInt32LE(central ? 0x02014b50 : 0x04034b50, 0);
  if (central) at = out.writeUInt16LE(0x031e, at);
  for (const value of [20, 0x0800, 0, 0, kDate]) at = out.writeUInt16LE(value, at);
  for (const value of [crc32(data), data.length, data.length]) at = out.writeUInt32LE(value, at);
  at = out.writeUInt16LE(name.length, at);
  at = out.writeUInt16LE(0, at);
  if (!central) return out;
  for (let i = 0; i < 3; i++) at = out.writeUInt16LE(0, at);
  at = out.writeUInt32LE((0o100644 << 16) >>> 0, at);
  out.writeUInt32LE(offset, at);
  return out;
}

export function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path);
    const data = Buffer.from(text);
    const local = Buffer.concat([header(name, data), name, data]);
    directory.push(header(name, data, offset), name);
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
