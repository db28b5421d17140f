import type { Message } from "@aws-sdk/client-sqs";

/** A Consumer of sqs-consumer, whether it was imported or required. */
export interface ConsumerLike {
  on(event: "timeout_error", listener: (error: any, message: any) => void): unknown;
  start(): void;
}

/** No retry will help: the message becomes a dead letter at once. */
export class Permanent extends Error {
  constructor(message?: string, options?: { cause?: unknown });
}

export interface ReportOptions {
  /** Errors besides Permanent that no retry can cure. */
  isPermanent?: (error: unknown) => boolean;
  /** Receives what kept a report from being delivered. Default: console.warn. */
  onReportError?: (error: Error) => void;
}

/**
 * Reports the error of every message that the consumer's handler fails to process. Returns the consumer. Does nothing at
 * endpoints that are not Redrive.
 */
export function reportFailures<C extends ConsumerLike>(consumer: C, options?: ReportOptions): C;

/** Reports one failure. Resolves to true if the message is a dead letter now. */
export function report(
  sqs: { send(command: any): Promise<any> },
  queueUrl: string,
  message: Message,
  error: unknown,
  options?: { permanent?: boolean },
): Promise<boolean>;

/** Whether a queue is one of Redrive. Hosts of AWS are never asked, others once. */
export function isRedrive(queueUrl: string): Promise<boolean>;
