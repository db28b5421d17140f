// Data that one view reads for itself: loading, an error in its place, and what was known on the last visit.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client";

export interface Resource<T> {
  value: T | undefined;
  stale: boolean; // `value` is of an earlier visit.
  error: ApiError | undefined;
  loading: boolean;
  again: () => void;
  set: (value: T) => void;
}

const kept = new Map<string, unknown>();
const kKeptMax = 60;

function keep(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size > kKeptMax) kept.delete(kept.keys().next().value ?? "");
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("Unexpected", error instanceof Error ? error.message : String(error), -1, undefined);
}

interface State<T> {
  key: string;
  value: T | undefined;
  stale: boolean;
  error: ApiError | undefined;
  loading: boolean;
}

// Reads when `key` changes, and again when `trigger` does. An undefined key reads nothing.
export function useResource<T>(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<T>,
  trigger: unknown = 0,
): Resource<T> {
  const first = (): State<T> => {
    const value = key === undefined ? undefined : (kept.get(key) as T | undefined);
    return { key: key ?? "", value, stale: value !== undefined, error: undefined, loading: key !== undefined };
  };
  const [state, setState] = useState<State<T>>(first);
  const [round, setRound] = useState(0);
  const current = state.key === (key ?? "") ? state : first();
  const latest = useRef(read);
  latest.current = read;

  useEffect(() => {
    if (key === undefined) return undefined;
    const abort = new AbortController();
    const before = current.value;
    setState({ ...current, loading: true });
    latest.current(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        keep(key, value);
        setState({ key, value, stale: false, error: undefined, loading: false });
      },
      (error) => {
        if (abort.signal.aborted) return;
        setState({ key, value: before, stale: before !== undefined, error: asApiError(error), loading: false });
      },
    );
    return () => abort.abort();
  }, [key, trigger, round]);

  return {
    value: current.value,
    stale: current.stale,
    error: current.error,
    loading: current.loading,
    again: () => setRound((r) => r + 1),
    set: (value) => {
      if (key !== undefined) keep(key, value);
      setState({ key: key ?? "", value, stale: false, error: undefined, loading: false });
    },
  };
}

// For buttons: one request at a time, and its error where the button is.
export function useTask(): {
  running: boolean;
  error: ApiError | undefined;
  run: (work: () => Promise<void>) => Promise<void>;
  clear: () => void;
} {
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setRunning(true);
    setError(undefined);
    try {
      await work();
    } catch (caught) {
      setError(asApiError(caught));
    } finally {
      setRunning(false);
    }
  };
  return { running, error, run, clear: () => setError(undefined) };
}
