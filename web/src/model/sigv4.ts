// AWS Signature Version 4 for the one request that the console signs itself: signing in.

import { hmacSha256, sha256, toHex } from "./sha256";

export interface SigningKey {
  id: string;
  secret: string;
  region: string;
  service: string;
}

export interface RequestToSign {
  method: string;
  path: string; // Encoded as it is sent.
  query: string; // Sorted and encoded; without "?".
  headers: Record<string, string>; // Names in lower case, `host` among them.
  body: string;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hexDigest = (text: string): string => toHex(sha256(utf8(text)));

export function amzDate(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d{3}/g, "");
}

export function canonicalRequest(request: RequestToSign): string {
  const names = Object.keys(request.headers).sort();
  const headers = names.map((n) => `${n}:${(request.headers[n] ?? "").trim().replace(/\s+/g, " ")}\n`).join("");
  return [request.method, request.path, request.query, headers, names.join(";"), hexDigest(request.body)].join("\n");
}

// The value of the Authorization header. `request.headers` has to have `host` and `x-amz-date`.
export function authorization(request: RequestToSign, key: SigningKey): string {
  const date = request.headers["x-amz-date"] ?? "";
  const day = date.slice(0, 8);
  const scope = `${day}/${key.region}/${key.service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", date, scope, hexDigest(canonicalRequest(request))].join("\n");
  const steps = [day, key.region, key.service, "aws4_request"];
  const signingKey = steps.reduce((k, step) => hmacSha256(k, utf8(step)), utf8(`AWS4${key.secret}`));
  const signature = toHex(hmacSha256(signingKey, utf8(toSign)));
  const signed = Object.keys(request.headers).sort().join(";");
  return `AWS4-HMAC-SHA256 Credential=${key.id}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
}
