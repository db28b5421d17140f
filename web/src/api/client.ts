// The one place that calls fetch. Every request goes to the origin that served the page.

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number, // 0: no answer.
    readonly requestId: string | undefined,
    readonly position?: number, // In a filter, from 1.
    readonly details?: Record<string, unknown>, // The whole document of the error.
  ) {
    super(message);
  }

  get isNoContact(): boolean {
    return this.status === 0;
  }

  // The server does not have this operation.
  get isUnknownOperation(): boolean {
    return (
      (this.status === 404 && kUnknownCodes.has(this.code)) ||
      this.status === 405 ||
      this.code === "UnknownOperationException"
    );
  }
}

const kUnknownCodes = new Set(["UnknownOperation", "UnknownOperationException", "NotFound", "InvalidAction", ""]);

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown; // Sent as JSON.
  text?: string; // Sent as it is.
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

// What the rest of the page wants to know about requests.
export const observer: {
  answered: (error: ApiError | undefined) => void;
} = { answered: () => {} };

function address(path: string, query: RequestOptions["query"]): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { "x-redrive-console": "1", ...options.headers };
  const body = options.text ?? (options.body === undefined ? null : JSON.stringify(options.body));
  if (body !== null && !headers["content-type"]) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(address(path, options.query), {
      method,
      headers,
      body,
      signal: options.signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    const error = new ApiError("NoContact", "The server does not answer.", 0, undefined);
    observer.answered(error);
    throw error;
  }
  if (response.ok) {
    observer.answered(undefined);
    return response;
  }
  const error = await errorOf(response);
  observer.answered(error);
  throw error;
}

interface ErrorDocument {
  error?: { code?: string; message?: string; position?: number };
  __type?: string;
  message?: string;
  Message?: string;
  Type?: string;
}

async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-amzn-requestid") ?? undefined;
  const text = await response.text();
  let document: ErrorDocument = {};
  try {
    document = JSON.parse(text) as ErrorDocument;
  } catch {
    document = { message: /<Message>([^<]*)/.exec(text)?.[1] ?? text.slice(0, 300) };
  }
  const type = document.__type?.split("#").pop() ?? response.headers.get("x-amzn-errortype") ?? "";
  const code = document.error?.code ?? (type || (/<Code>([^<]*)/.exec(text)?.[1] ?? ""));
  const message = document.error?.message ?? document.message ?? document.Message ?? response.statusText;
  return new ApiError(
    code,
    message,
    response.status,
    requestId,
    document.error?.position,
    document as Record<string, unknown>,
  );
}

export async function json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const text = await response.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

export const kManagement = "/_redrive/v1";

export function manage<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return json<T>(method, `${kManagement}/${path}`, options);
}

export const part = encodeURIComponent;
