// Numbers, sizes, rates and ids as people read them.

let counts = new Intl.NumberFormat(undefined);

// For tests: what a reader of this locale sees.
export function useLocale(locale: string): void {
  counts = new Intl.NumberFormat(locale);
}

export function countText(n: number): string {
  return counts.format(n);
}

// "1 message", "25 messages".
export function nounText(n: number, one: string, many = `${one}s`): string {
  return `${countText(n)} ${n === 1 ? one : many}`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${oneDigit(bytes / 1024)} KiB`;
  if (bytes < 1024 ** 3) return `${oneDigit(bytes / 1024 ** 2)} MiB`;
  return `${oneDigit(bytes / 1024 ** 3)} GiB`;
}

const oneDigit = (n: number): string => (n < 10 ? n.toFixed(1).replace(/\.0$/, "") : String(Math.round(n)));

// A rate per second; "–" where there is none.
export function rateText(perSecond: number): string {
  if (perSecond <= 0) return "–";
  if (perSecond < 0.1) return "<0.1";
  return perSecond < 10 ? oneDigit(perSecond) : countText(Math.round(perSecond));
}

export function percentText(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent > 99 && percent < 100) return "99 %";
  return `${Math.round(percent)} %`;
}

// A long id with its middle left out. It is copied whole.
export function shortId(id: string, head = 4, tail = 4): string {
  return id.length <= head + tail + 1 ? id : `${id.slice(0, head)}…${id.slice(-tail)}`;
}

export function nameOfArn(arn: string): string {
  return arn.slice(arn.lastIndexOf(":") + 1);
}

export function functionOfArn(arn: string): string {
  const parts = arn.split(":");
  return parts[5] === "function" ? (parts[6] ?? arn) : nameOfArn(arn);
}

// "function:orders" and "10.0.0.3 Boto3/1.34" as people say them.
export function consumerText(consumer: string): string {
  return consumer.replace(/^function:/, "");
}

export function listText(items: readonly string[], max = 3): string {
  if (items.length <= max) return items.join(", ");
  return `${items.slice(0, max).join(", ")} and ${items.length - max} more`;
}
