// Signing in: the page signs one request with the key's secret, and the server answers with a cookie.

import { amzDate, authorization } from "../model/sigv4";
import { type SessionView, signIn } from "./additions";
import { kManagement } from "./client";

export async function signInWithKey(id: string, secret: string, region = "us-east-1"): Promise<SessionView> {
  const body = "{}";
  const headers: Record<string, string> = {
    host: location.host,
    "x-amz-date": amzDate(new Date()),
    "content-type": "application/json",
  };
  const value = authorization(
    { method: "POST", path: `${kManagement}/session`, query: "", headers, body },
    { id, secret, region, service: "sqs" },
  );
  const { host: _host, ...sent } = headers; // Browsers set it themselves.
  return signIn(body, { ...sent, authorization: value });
}

export function signInWithToken(token: string): Promise<SessionView> {
  return signIn(JSON.stringify({ token }), {});
}
