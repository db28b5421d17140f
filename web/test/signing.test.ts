import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { hmacSha256, sha256, toHex } from "../src/model/sha256";
import { amzDate, authorization, canonicalRequest } from "../src/model/sigv4";

test("hashes as Node does, at every length around the block size", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 0xff);
    assert.equal(toHex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"), `${length} bytes`);
    const key = bytes.map((b) => b ^ 0x55);
    assert.equal(toHex(hmacSha256(key, bytes)), createHmac("sha256", key).update(bytes).digest("hex"));
  }
});

// The request of "get-vanilla" in Amazon's test suite for Signature Version 4.
test("signs as the specification does", () => {
  const request = {
    method: "GET",
    path: "/",
    query: "",
    headers: { host: "example.amazonaws.com", "x-amz-date": "20150830T123600Z" },
    body: "",
  };
  const key = {
    id: "AKIDEXAMPLE",
    secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
    service: "service",
  };
  assert.match(canonicalRequest(request), /^GET\n\/\n\nhost:example/);
  assert.equal(
    authorization(request, key),
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
      "SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  );
});

test("writes dates in the basic format", () => {
  assert.equal(amzDate(new Date(Date.UTC(2026, 10, 17, 9, 8, 7, 6))), "20261117T090807Z");
});
