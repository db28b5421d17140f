// Contents inside contents: JSON in a string, base64, gzip. Nothing is opened by itself.

import { parseJson } from "./json_tokens";

export type Lens = "json" | "base64";

const kBase64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

// What a text could be opened as. Short texts that happen to be base64 are left alone.
export function lensOf(text: string): Lens | undefined {
  const trimmed = text.trim();
  if (/^[{[]/.test(trimmed) && parseJson(trimmed).root) return "json";
  if (trimmed.length >= 16 && trimmed.length % 4 === 0 && kBase64.test(trimmed)) return "base64";
  return undefined;
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
}

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

// Undefined when the bytes are no UTF-8.
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
