// When a message is tried again, as points on a line.

import type { JSX } from "preact";
import { type RetryPoint, spread } from "../model/retry_timeline";
import { durationText } from "../model/time";

export function RetryLine({ points, end }: { points: readonly RetryPoint[]; end: string }): JSX.Element {
  const places = spread(points);
  const x = (share: number): string => `${4 + share * 92}%`;
  const text = points.map((p) => `${p.number} after ${durationText(p.atSeconds * 1000)}`).join(", ");
  return (
    <div class="retry-line">
      <svg role="img" aria-label={`Redrives: ${text}${end ? `, then ${end}` : ""}`}>
        <line x1="2%" y1="20" x2="98%" y2="20" />
        <circle class="end" cx="2%" cy="20" r="4" />
        {points.map((p, i) => (
          <>
            <circle cx={x(places[i] ?? 0)} cy="20" r="4" />
            <text x={x(places[i] ?? 0)} y={i % 2 === 0 ? 40 : 8}>
              {durationText(p.atSeconds * 1000)}
            </text>
          </>
        ))}
      </svg>
      <p class="muted">
        {points.length} {points.length === 1 ? "redrive" : "redrives"}
        {end && `, then ${end}`}
      </p>
    </div>
  );
}
