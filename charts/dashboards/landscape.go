package dashboards

// landscape returns the panels about all seeds, and about what runs in the garden. The garden's Prometheus gets of a seed what the charts' recording
// rules compute there, with the seed's name as label.
func landscape() []panel {
	const chosen = `{seed=~"$seed"}`
	return []panel{
		{
			"Replicas in seeds", "By registration and version.", "short",
			[]query{{`sum by (registration, version) (seed:trellis_replicas:count` + chosen + `)`, "{{registration}} {{version}}"}},
		},
		{
			"Seeds", "Those with controllers, and of those that an operator in the garden serves, those that are reachable.", "short",
			[]query{
				{`count(sum by (seed) (seed:trellis_replicas:count` + chosen + `))`, "with controllers"},
				{`count(trellis_seed_reachable)`, "served from the garden"},
				{`sum(trellis_seed_reachable)`, "reachable from the garden"},
			},
		},
		{
			"Operations", "Operations per second, by contract and result.", "ops",
			[]query{{`sum by (contract, result) (seed:trellis_reconcile:sum` + chosen + `)`, "{{contract}} {{result}}"}},
		},
		{
			"Failed operations", "Share of the operations that failed, by seed and contract.", "percentunit",
			[]query{{
				`sum by (seed, contract) (seed:trellis_reconcile:sum{seed=~"$seed",result="failed"}) / sum by (seed, contract) (seed:trellis_reconcile:sum` + chosen + `)`,
				"{{seed}} {{contract}}",
			}},
		},
		{
			"Duration of operations", "Mean, by contract and operation.", "s",
			[]query{{
				`sum by (contract, operation) (seed:trellis_reconcile_duration_seconds:sum` + chosen + `)` +
					` / sum by (contract, operation) (seed:trellis_reconcile_duration_seconds:count` + chosen + `)`,
				"{{contract}} {{operation}}",
			}},
		},
		{
			"Queues", "Objects that wait for a worker, by seed and controller.", "short",
			[]query{{`sum by (seed, name) (seed:trellis_queue_depth:sum` + chosen + `)`, "{{seed}} {{name}}"}},
		},
		{
			"Requests to clouds", `By seed, service and code; the code is "none" when there was no response.`, "reqps",
			[]query{{`sum by (seed, cloud, service, code) (seed:trellis_cloud_requests:sum` + chosen + `)`, "{{seed}} {{cloud}} {{service}} {{code}}"}},
		},
		{
			"Webhook requests", "Of seeds by result, and of admission by result.", "reqps",
			[]query{
				{`sum by (result) (seed:trellis_webhook_requests:sum` + chosen + `)`, "seeds {{result}}"},
				{`sum by (result) (rate(trellis_webhook_requests_total[5m]))`, "garden {{result}}"},
			},
		},
		{
			"Memory", "Resident memory of all replicas, by registration.", "bytes",
			[]query{{`sum by (registration) (seed:trellis_memory_bytes:sum` + chosen + `)`, "{{registration}}"}},
		},
		{
			"CPU", "Cores of all replicas, by registration.", "short",
			[]query{{`sum by (registration) (seed:trellis_cpu_cores:sum` + chosen + `)`, "{{registration}}"}},
		},
		{
			"Installations", "By phase, of operators in seeds and of the one in the garden.", "short",
			[]query{
				{`sum by (phase) (seed:trellis_installations:sum` + chosen + `)`, "in seeds {{phase}}"},
				{`sum by (phase) (trellis_installation_phase)`, "from the garden {{phase}}"},
			},
		},
		{
			"Rollouts", "ControllerDeployments by the state of their rollouts.", "short",
			[]query{{`sum by (state) (trellis_rollout_state)`, "{{state}}"}},
		},
	}
}
