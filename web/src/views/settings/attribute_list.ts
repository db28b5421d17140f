// Queue attributes in plain words: what each does, what is usual, what AWS calls it.

export interface QueueAttribute {
  name: string; // AWS' name.
  title: string;
  explained: string;
  usual: string;
  unit?: "seconds" | "bytes";
  min?: number;
  max?: number;
}

export const kAttributes: readonly QueueAttribute[] = [
  {
    name: "VisibilityTimeout",
    title: "Visibility timeout",
    explained:
      "How long a consumer has a message for itself. When it has not deleted it by then, the message is received again.",
    usual: "30",
    unit: "seconds",
    min: 0,
    max: 43_200,
  },
  {
    name: "MessageRetentionPeriod",
    title: "Retention",
    explained:
      "How long a message is kept. A dead letter of a standard queue keeps its age: give dead-letter queues more time.",
    usual: "345600",
    unit: "seconds",
    min: 60,
    max: 1_209_600,
  },
  {
    name: "DelaySeconds",
    title: "Delay",
    explained: "How long a new message waits before it can be received.",
    usual: "0",
    unit: "seconds",
    min: 0,
    max: 900,
  },
  {
    name: "ReceiveMessageWaitTimeSeconds",
    title: "Long polling",
    explained: "How long a receive waits for a message when there is none.",
    usual: "0",
    unit: "seconds",
    min: 0,
    max: 20,
  },
  {
    name: "MaximumMessageSize",
    title: "Largest message",
    explained: "Larger ones are refused.",
    usual: "1048576",
    unit: "bytes",
    min: 1024,
    max: 1_048_576,
  },
];

export interface RedriveTarget {
  deadLetterTargetArn?: string;
  maxReceiveCount?: number | string;
}

export function redriveTarget(attributes: Record<string, string> | undefined): RedriveTarget {
  try {
    return JSON.parse(attributes?.RedrivePolicy ?? "{}") as RedriveTarget;
  } catch {
    return {};
  }
}
