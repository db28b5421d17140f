"""What we want to be true of the measurements, beside what is."""

OURS, REDIS, NGINX = "Redrive", "Redis streams", "nginx"
DURABLE_SQS, MEMORY_SQS = "fauxqs, SQLite", "fauxqs, memory"
CPU, RATE = "server_us_per_message", "messages_per_second"


class Target:
    """`measured` is None where a peer was absent."""

    def __init__(self, work, wish, measured, limit, form="{:.2f}", at_least=False):
        self.work, self.wish = work, wish
        self.verdict = "not measured"
        self.text = "–"
        if measured is not None:
            self.text = form.format(measured)
            met = measured >= limit if at_least else measured <= limit
            self.verdict = "met" if met else "**missed**"

    def row(self):
        return [self.work, self.wish, self.text, self.verdict]


def ratio(results, work, field, other, other_work=None):
    """Ours divided by the other's."""
    theirs = results.get(other_work or work, {}).get(other)
    return results[work][OURS][field] / theirs[field] if theirs and theirs[field] else None


def advantage(results, other):
    """How many times the CPU of ours another takes for a message, in the work where it does best."""
    ratios = [ratio(results, work, CPU, other) for work in results]
    ratios = [1 / value for value in ratios if value]
    return min(ratios) if ratios else None


def all_targets(results, idle, wake, signature_us):
    def cpu(work, other, limit, other_work=None):
        return Target(work, f"CPU ≤ {limit:g} × {other}", ratio(results, work, CPU, other, other_work), limit)

    def rate(work, limit):
        return Target(work, f"messages/s ≥ {limit:g} × {REDIS}", ratio(results, work, RATE, REDIS), limit, at_least=True)

    return [
        cpu("send", NGINX, 1.2),
        cpu("send", REDIS, 1.0),
        rate("send", 1.3),
        cpu("send x10", REDIS, 0.75),
        cpu("drain", REDIS, 0.75),
        cpu("e2e", REDIS, 0.8),
        rate("e2e", 1.5),
        Target("all", f"≥ 20 × {DURABLE_SQS} (CPU, its best workload)", advantage(results, DURABLE_SQS), 20, "{:.1f}", True),
        Target("all", f"≥ 5 × {MEMORY_SQS} (CPU, its best workload)", advantage(results, MEMORY_SQS), 5, "{:.1f}", True),
        Target("wake", f"p50 of send → waiting long poll ≤ 3 × fdatasync of an idle disk ({wake['sync_us']:,.0f} µs)",
               wake["latency_p50_us"] / wake["sync_us"], 3),
        Target("send", "verifying a signature ≤ 2.5 µs", signature_us, 2.5, "{:.2f} µs"),
        Target("idle", "resident ≤ 20 MiB", idle["resident_mib"], 20, "{:.1f} MiB"),
        Target("idle", "CPU ≤ 0.1 %", idle["cpu_percent"], 0.1, "{:.3f} %"),
        Target("start", "ready on an empty directory ≤ 50 ms", idle["start_ms"], 50, "{:.0f} ms"),
    ]
