package main

import "basalt/api/bench/peers"

const (
	trailBasePage  = "https://trailbase.io/reference/benchmarks (figures in its source, docs/src/content/docs/reference/_benchmarks/benchmarks.tsx)"
	pocketBasePage = "https://github.com/pocketbase/benchmarks/blob/master/results/hetzner_cax11.md"
	supabasePage   = "https://github.com/supabase/benchmarks/issues/9 (comment of 2025-04-29)"
)

// published are figures of others, of their own machines and rows, each with where it stands. They are shown apart.
var published = []peers.Published{
	{
		Peer: "trailbase", What: "1,000,000 reads of a message, 64 at a time, Rust client, AMD 7840U with 8 cores, 2025-01",
		Value: "p50 0.38 ms, p95 0.55 ms", Source: trailBasePage,
	},
	{
		Peer: "trailbase", What: "10,000 inserts of a message, 64 at a time, Rust client, the same machine, 2025-01",
		Value: "p50 0.81 ms, p95 1.07 ms", Source: trailBasePage,
	},
	{
		Peer: "pocketbase", What: "the same reads, measured by TrailBase's authors, 2024-10",
		Value: "p50 12.7 ms, p95 15.5 ms", Source: trailBasePage,
	},
	{
		Peer: "pocketbase", What: "the same inserts, measured by TrailBase's authors, 2024-10",
		Value: "p50 28.2 ms, p95 157.6 ms", Source: trailBasePage,
	},
	{
		Peer: "Supabase", What: "100,000 inserts of a message without row-level security, measured by TrailBase's authors",
		Value: "151 s (662/s)", Source: trailBasePage,
	},
	{
		Peer: "pocketbase", What: `list of 20 of 10,000 posts, rule "author = @request.auth.id" with index, skipTotal, 100 requests of 10 callers, v0.24.0-dev, 2 vCPU ARM64`,
		Value: "78 ms in all (1,280/s), slowest 26 ms", Source: pocketBasePage,
	},
	{
		Peer: "pocketbase", What: "50,000 posts created by 500 callers with a rule that asks for a user, v0.24.0-dev, 2 vCPU ARM64",
		Value: "40.96 s in all (1,220/s), slowest 4.2 s", Source: pocketBasePage,
	},
	{
		Peer: "postgrest", What: "read of one row with a token, k6 with 10 virtual users, v12.2.10 on a t3a.nano, PostgreSQL and k6 on m5a.8xlarge machines",
		Value: "p50 4.61 ms, p95 7.28 ms", Source: supabasePage,
	},
}
