// B9: restores archived documents one by one, through the operation that the command line uses.

import { nameOfArn } from "../model/format";
import { getObject } from "./aws";
import { manage, part } from "./client";
import type { UnarchiveResults } from "./types.gen";

interface ArchivedMessage {
  Body?: string;
  Attribute?: Record<string, unknown>;
  Redrive?: { MessageId?: string; Source?: string; Attributes?: Record<string, string> };
  Lineage?: Record<string, unknown>;
}

export async function restoreArchived(
  bucket: string,
  body: { keys: string[]; queue?: string; reason?: string },
): Promise<{ restored: number; problems?: string[] }> {
  let restored = 0;
  const problems: string[] = [];
  for (const key of body.keys) {
    const problem = await restoreOne(bucket, key, body).catch((e: Error) => e.message);
    if (problem === undefined) restored++;
    else problems.push(`${key}: ${problem}`);
  }
  return problems.length > 0 ? { restored, problems } : { restored };
}

async function restoreOne(
  bucket: string,
  key: string,
  options: { queue?: string; reason?: string },
): Promise<string | undefined> {
  const document = JSON.parse(await getObject(bucket, key)) as ArchivedMessage;
  const queue = options.queue ?? nameOfArn(document.Redrive?.Source ?? "");
  if (!queue) return "The document does not say which queue it came from.";
  if (!document.Lineage) return "The document has no lineage; `redrive archive restore` can send it.";
  const system = document.Redrive?.Attributes ?? {};
  const message = {
    body: document.Body ?? "",
    attributes: document.Attribute ?? {},
    groupId: system.MessageGroupId,
    deduplicationId: system.MessageDeduplicationId,
    archivedAs: document.Redrive?.MessageId,
    lineage: document.Lineage,
  };
  const answer = await manage<UnarchiveResults>("POST", `queues/${part(queue)}/unarchive`, {
    body: { messages: [message], reason: options.reason },
  });
  const result = answer.results[0];
  if (result?.before) return "It has come back before.";
  return result?.code ? (result.message ?? result.code) : undefined;
}
