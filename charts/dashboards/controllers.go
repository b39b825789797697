package dashboards

import "slices"

const (
	// of selects the metrics of one controller.
	of = `{job="` + Job + `"}`
	// shootHosts says what the hosts of requests are in a controller of extension objects.
	shootHosts = "Hosts other than one are API servers of shoots."
	// seedHosts says it in a secondary.
	seedHosts = "The host is the seed."
)

// chart is what a chart's dashboard shows.
type chart struct {
	folder string
	panels []panel
}

// dashboardsOf returns the dashboards of charts, in a file of that name in each.
func dashboardsOf(file string, charts []chart) []dashboard {
	all := make([]dashboard, 0, len(charts))
	for _, c := range charts {
		all = append(all, dashboard{
			path: c.folder + "/dashboards/" + file, title: "Trellis: " + Registration, uid: UID, datasource: Datasource, panels: c.panels,
		})
	}
	return all
}

// controllers returns the dashboard of each chart.
func controllers() []dashboard {
	return dashboardsOf("controller.json", []chart{
		{"infrastructure-controller", slices.Concat(operations("infrastructures"), queues(true), clouds(), process(shootHosts))},
		{"controlplane-controller", slices.Concat(operations("control planes"), queues(true), webhooks(), process(shootHosts))},
		{"network-controller", slices.Concat(operations("networks"), queues(true), process(shootHosts))},
		{"worker-controller", slices.Concat(operations("workers"), queues(true), clouds(), webhooks(), process(shootHosts))},
		{
			"admission/runtime",
			slices.Concat(rejections(), webhooks(), process("The hosts are the runtime cluster and the virtual garden.")),
		},
		{
			"controllerinstallation-controller/seed",
			slices.Concat(installations(), queues(false), process("The hosts are the seed and the garden.")),
		},
		{
			"controllerinstallation-controller/runtime",
			slices.Concat(rollouts(), installations(), seeds(), queues(false), process("The hosts are the garden and its seeds.")),
		},
	})
}

// secondaries returns the dashboard of each chart for an installation that observes.
func secondaries() []dashboard {
	return dashboardsOf("secondary.json", []chart{
		{"infrastructure-controller", slices.Concat(observations(), queues(false), clouds(), process(seedHosts))},
		{"controlplane-controller", slices.Concat(observations(), queues(false), process(seedHosts))},
		{"network-controller", slices.Concat(observations(), queues(false), process(seedHosts))},
		{"worker-controller", slices.Concat(observations(), queues(false), process(seedHosts))},
	})
}

func observations() []panel {
	return []panel{
		{
			"Observations", "Shoots by the last result of each observation that is not healthy.", "short",
			[]query{
				{`sum by (observation) (trellis_observation_healthy` + of + ` == bool 0)`, "{{observation}} unhealthy"},
				{`sum by (observation) (trellis_observation_healthy` + of + ` == bool -1)`, "{{observation}} unknown"},
			},
		},
		{
			"Age of observations", "The oldest result of each observation.", "s",
			[]query{{`time() - min by (observation) (trellis_observation_timestamp_seconds` + of + `)`, "{{observation}}"}},
		},
		{
			"Failed observations and conflicts", "Observations that failed, and writes of conditions that were repeated because others wrote at the same time, in five minutes.", "short",
			[]query{
				{`sum by (observation) (increase(trellis_observation_failures_total` + of + `[5m]))`, "{{observation}} failures"},
				{`sum(increase(trellis_observation_conflicts_total` + of + `[5m]))`, "conflicts"},
			},
		},
	}
}

func operations(resource string) []panel {
	return []panel{
		{
			"Operations", "Operations on " + resource + " in five minutes, by operation and result.", "short",
			[]query{{`sum by (operation, result) (increase(trellis_reconcile_total` + of + `[5m]))`, "{{operation}} {{result}}"}},
		},
		{
			"Duration of operations", "From the start of an operation to its final status.", "s",
			[]query{
				{`histogram_quantile(0.5, sum by (le, operation) (rate(trellis_reconcile_duration_seconds_bucket` + of + `[15m])))`, "{{operation}} median"},
				{`histogram_quantile(0.9, sum by (le, operation) (rate(trellis_reconcile_duration_seconds_bucket` + of + `[15m])))`, "{{operation}} 90th percentile"},
			},
		},
	}
}

func queues(withOperations bool) []panel {
	calls := "Calls of the reconcilers per second, by controller and result."
	if withOperations {
		calls = "Calls of the reconcilers per second, not all of which start an operation, by controller and result."
	}
	return []panel{
		{
			"Queue", "Waiting objects, busy workers and all workers.", "short",
			[]query{
				{`sum by (name) (workqueue_depth` + of + `)`, "{{name}} waiting"},
				{`sum by (controller) (controller_runtime_active_workers` + of + `)`, "{{controller}} busy"},
				{`max by (controller) (controller_runtime_max_concurrent_reconciles` + of + `)`, "{{controller}} workers"},
			},
		},
		{
			"Reconciliations", calls, "ops",
			[]query{{`sum by (controller, result) (rate(controller_runtime_reconcile_total` + of + `[5m]))`, "{{controller}} {{result}}"}},
		},
	}
}

func clouds() []panel {
	return []panel{
		{
			"Requests to clouds", `Every attempt counts; the code is "none" when there was no response.`, "reqps",
			[]query{{`sum by (cloud, service, code) (rate(trellis_cloud_requests_total` + of + `[5m]))`, "{{cloud}} {{service}} {{code}}"}},
		},
		{
			"Duration of requests to clouds", "90th percentile.", "s",
			[]query{{
				`histogram_quantile(0.9, sum by (le, cloud, service, method) (rate(trellis_cloud_request_duration_seconds_bucket` + of + `[15m])))`,
				"{{cloud}} {{service}} {{method}}",
			}},
		},
		{
			"Logins to clouds", "Logins in five minutes, by result.", "short",
			[]query{{`sum by (cloud, result) (increase(trellis_cloud_logins_total` + of + `[5m]))`, "{{cloud}} {{result}}"}},
		},
	}
}

func webhooks() []panel {
	return []panel{
		{
			"Webhook requests", "By webhook and result.", "reqps",
			[]query{{`sum by (webhook, result) (rate(trellis_webhook_requests_total` + of + `[5m]))`, "{{webhook}} {{result}}"}},
		},
		{
			"Duration of webhook requests", "Mean.", "s",
			[]query{{
				`sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_sum` + of + `[5m]))` +
					` / sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_count` + of + `[5m]))`,
				"{{webhook}}",
			}},
		},
	}
}

// process returns the panels that all binaries have. hosts is a sentence about the API servers to which they connect.
func process(hosts string) []panel {
	return []panel{
		{
			"Requests to API servers", "By host, verb and code. " + hosts, "reqps",
			[]query{{`sum by (host, method, code) (rate(rest_client_requests_total` + of + `[5m]))`, "{{host}} {{method}} {{code}}"}},
		},
		{"Leader", "1 for the leader, 0 for standbys.", "short", []query{{`max by (pod) (leader_election_master_status` + of + `)`, "{{pod}}"}}},
		{"Memory", "Resident memory of each replica.", "bytes", []query{{`max by (pod) (process_resident_memory_bytes` + of + `)`, "{{pod}}"}}},
		{"CPU", "CPU of each replica, in cores.", "short", []query{{`sum by (pod) (rate(process_cpu_seconds_total` + of + `[5m]))`, "{{pod}}"}}},
		{"Versions", "Replicas of each build.", "short", []query{{`count by (version) (trellis_build_info` + of + `)`, "{{version}}"}}},
	}
}

// rejections are counted by the API servers that call admission, whatever becomes of its replicas.
func rejections() []panel {
	const calls = `{name=~".+[.]admission[.]extensions[.]gardener[.]cloud"}`
	return []panel{
		{
			"Rejected writes",
			"In five minutes, by webhook and code, counted by the API servers of the garden. 422 is an invalid object, 500 a failed lookup, 0 no response.", "short",
			[]query{{`sum by (name, rejection_code) (increase(apiserver_admission_webhook_rejection_count` + calls + `[5m]))`, "{{name}} {{rejection_code}}"}},
		},
		{
			"Duration of calls", "99th percentile, measured by the API servers of the garden.", "s",
			[]query{{
				`histogram_quantile(0.99, sum by (le, name) (rate(apiserver_admission_webhook_admission_duration_seconds_bucket` + calls + `[15m])))`, "{{name}}",
			}},
		},
	}
}

func installations() []panel {
	return []panel{{"Installations", "By phase.", "short", []query{{`sum by (phase) (trellis_installation_phase` + of + `)`, "{{phase}}"}}}}
}

func rollouts() []panel {
	return []panel{
		{
			"Rollouts", "ControllerDeployments by the state of their rollouts.", "short",
			[]query{{`sum by (state) (trellis_rollout_state` + of + `)`, "{{state}}"}},
		},
		{
			"Progress", "Installations of the current wave of a rollout, and those of them that are healthy with the newest revision.", "short",
			[]query{{`sum by (deployment, wave, count) (trellis_rollout_installations` + of + `)`, "{{deployment}} {{wave}} {{count}}"}},
		},
	}
}

func seeds() []panel {
	return []panel{{
		"Seeds", "All seeds, and those that are reachable.", "short",
		[]query{{`count(trellis_seed_reachable` + of + `)`, "all"}, {`sum(trellis_seed_reachable` + of + `)`, "reachable"}},
	}}
}
