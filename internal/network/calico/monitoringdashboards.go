package calico

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

// dashboards returns the ConfigMap with the dashboards. The names of the files are those of upstream's extension.
func (s *settings) dashboards() (*corev1.ConfigMap, error) {
	shown := map[string]monitoring.Dashboard{"calico-felix-dashboard.json": s.nodesDashboard()}
	if s.form.Typha {
		shown["calico-typha-dashboard.json"] = typhaDashboard()
	}
	if s.exportsBIRD() {
		shown["calico-bird-dashboard.json"] = birdDashboard()
	}
	return monitoring.Dashboards(dashboardsName, s.namespace, shown)
}

func (s *settings) nodesDashboard() monitoring.Dashboard {
	rows := []monitoring.Row{
		{Title: "Now", Panels: []monitoring.Panel{
			monitoring.Stat("Nodes that Prometheus reaches", `sum(up{job="`+felixJob+`"})`),
			monitoring.Stat("Nodes that it does not reach", `count(up{job="`+felixJob+`"} == 0) or vector(0)`),
			monitoring.Stat("Nodes out of sync", `count(felix_resync_state != 3) or vector(0)`),
			monitoring.Stat("Failed updates in an hour", `sum(increase(felix_int_dataplane_failures[1h]))`),
			monitoring.Stat("Pods with an endpoint", `max(felix_cluster_num_workload_endpoints)`),
			monitoring.Stat("Policies", `max(felix_cluster_num_policies)`),
		}},
		{Title: "Data plane", Panels: []monitoring.Panel{
			monitoring.TimeSeries("Failed updates", "ops", `rate(felix_int_dataplane_failures{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			monitoring.TimeSeries("Updates", "ops", `rate(felix_int_dataplane_apply_time_seconds_count{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			monitoring.TimeSeries("Time of an update (99%)", "s", `felix_int_dataplane_apply_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
			monitoring.TimeSeries("Routes", "short", `sum by (node) (felix_route_table_num_routes{node=~"$node"})`, "{{node}}"),
			// Prometheus has its own label of the name "type".
			monitoring.TimeSeries("What there was to do", "ops",
				`sum by (exported_type) (rate(felix_int_dataplane_messages{node=~"$node"}[$__rate_interval]))`, "{{exported_type}}"),
			monitoring.TimeSeries("Errors while logging", "ops", `rate(felix_log_errors{node=~"$node"}[$__rate_interval])`, "{{node}}"),
		}},
		s.rulesRow(),
	}
	if s.form.BPF {
		rows = append(rows, bpfRow())
	}
	return monitoring.Dashboard{
		UID: "calico-nodes", Title: "Calico Nodes", Scope: "felix_resync_state", Label: "node",
		Rows: append(rows, clusterRow()),
	}
}

func (s *settings) rulesRow() monitoring.Row {
	if s.form.NFTables {
		return monitoring.Row{Title: "nftables", Panels: []monitoring.Panel{
			monitoring.TimeSeries("Rules", "short", `sum by (ip_version, node) (felix_nft_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
			{Title: "Calls and errors", Unit: "ops", Queries: []monitoring.Query{
				{Expression: `sum(rate(felix_nft_calls{node=~"$node"}[$__rate_interval]))`, Legend: "calls"},
				{Expression: `sum(rate(felix_nft_errors{node=~"$node"}[$__rate_interval]))`, Legend: "errors"},
				{Expression: `sum(rate(felix_nft_list_errors{node=~"$node"}[$__rate_interval]))`, Legend: "errors of listing"},
			}},
		}}
	}
	return monitoring.Row{Title: "iptables and IP sets", Panels: []monitoring.Panel{
		monitoring.TimeSeries("Rules", "short", `sum by (ip_version, node) (felix_iptables_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
		{Title: "Calls and errors", Unit: "ops", Queries: []monitoring.Query{
			{Expression: `sum(rate(felix_iptables_restore_calls{node=~"$node"}[$__rate_interval]))`, Legend: "calls"},
			{Expression: `sum(rate(felix_iptables_restore_errors{node=~"$node"}[$__rate_interval]))`, Legend: "errors"},
			{Expression: `sum(rate(felix_iptables_save_errors{node=~"$node"}[$__rate_interval]))`, Legend: "errors of reading"},
			{Expression: `sum(rate(felix_ipset_errors{node=~"$node"}[$__rate_interval]))`, Legend: "errors of ipset"},
		}},
		monitoring.TimeSeries("IP sets", "short", `sum by (node) (felix_ipsets_calico{node=~"$node"})`, "{{node}}"),
	}}
}

func bpfRow() monitoring.Row {
	return monitoring.Row{Title: "eBPF", Panels: []monitoring.Panel{
		{Title: "Interfaces", Unit: "short", Queries: []monitoring.Query{
			{Expression: `sum(felix_bpf_dataplane_endpoints{node=~"$node"})`, Legend: "all"},
			{Expression: `sum(felix_bpf_happy_dataplane_endpoints{node=~"$node"})`, Legend: "with their programs"},
			{Expression: `sum(felix_bpf_dirty_dataplane_endpoints{node=~"$node"})`, Legend: "failed"},
		}},
		monitoring.TimeSeries("IP sets", "short", `felix_bpf_num_ip_sets{node=~"$node"}`, "{{node}}"),
	}}
}

func clusterRow() monitoring.Row {
	return monitoring.Row{Title: "Pods, policies and the API", Panels: []monitoring.Panel{
		monitoring.TimeSeries("Endpoints on the node", "short", `felix_active_local_endpoints{node=~"$node"}`, "{{node}}"),
		monitoring.TimeSeries("Policies on the node", "short", `felix_active_local_policies{node=~"$node"}`, "{{node}}"),
		{Title: "What there is in the shoot", Unit: "short", Queries: []monitoring.Query{
			{Expression: `max(felix_cluster_num_hosts)`, Legend: "nodes"},
			{Expression: `max(felix_cluster_num_workload_endpoints)`, Legend: "endpoints of pods"},
			{Expression: `max(felix_cluster_num_host_endpoints)`, Legend: "endpoints of nodes"},
			{Expression: `max(felix_cluster_num_policies)`, Legend: "policies"},
		}},
		monitoring.TimeSeries("State (1 waits, 2 reads, 3 in sync)", "short", `felix_resync_state{node=~"$node"}`, "{{node}}"),
		monitoring.TimeSeries("Resyncs in an hour", "short", `increase(felix_resyncs_started{node=~"$node"}[1h])`, "{{node}}"),
		monitoring.TimeSeries("Time to think about an update (99%)", "s",
			`felix_calc_graph_update_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
	}}
}

func typhaDashboard() monitoring.Dashboard {
	return monitoring.Dashboard{
		UID: "calico-typha", Title: "Calico Typha", Scope: "typha_connections_active", Label: "pod",
		Rows: []monitoring.Row{
			{Title: "Connections", Panels: []monitoring.Panel{
				monitoring.TimeSeries("Open", "short", `typha_connections_active{pod=~"$pod"}`, "{{pod}}"),
				monitoring.TimeSeries("Streaming", "short", `sum by (syncer) (typha_connections_streaming{pod=~"$pod"})`, "{{syncer}}"),
				{Title: "Coming and going", Unit: "ops", Queries: []monitoring.Query{
					{Expression: `sum(rate(typha_connections_accepted{pod=~"$pod"}[$__rate_interval]))`, Legend: "accepted"},
					{Expression: `sum(rate(typha_connections_dropped{pod=~"$pod"}[$__rate_interval]))`, Legend: "dropped to share out evenly"},
					{Expression: `sum(rate(typha_connections_grace_used{pod=~"$pod"}[$__rate_interval]))`, Legend: "granted more time"},
				}},
				monitoring.TimeSeries("Round trip (99%)", "s", `max by (pod, syncer) (typha_ping_latency{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
			}},
			{Title: "How nodes keep up", Panels: []monitoring.Panel{
				monitoring.TimeSeries("Behind by (99%)", "s", `max by (pod, syncer) (typha_client_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				monitoring.TimeSeries("Time of a write (99%)", "s",
					`max by (pod, syncer) (typha_client_write_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				monitoring.TimeSeries("Time to send everything (99%)", "s",
					`max by (pod, syncer) (typha_client_snapshot_send_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				monitoring.TimeSeries("Size of everything", "bytes", `max by (syncer) (typha_snapshot_compressed_bytes{pod=~"$pod"})`, "{{syncer}}"),
			}},
			{Title: "What Typha learns", Panels: []monitoring.Panel{
				monitoring.TimeSeries("Updates", "ops", `sum by (syncer) (rate(typha_updates_total{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				monitoring.TimeSeries("Updates that say nothing new", "ops", `sum by (syncer) (rate(typha_updates_skipped{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				monitoring.TimeSeries("Objects", "short", `max by (syncer) (typha_cache_size{pod=~"$pod"})`, "{{syncer}}"),
				monitoring.TimeSeries("Errors while logging", "ops", `rate(typha_log_errors{pod=~"$pod"}[$__rate_interval])`, "{{pod}}"),
			}},
		},
	}
}

func birdDashboard() monitoring.Dashboard {
	return monitoring.Dashboard{
		UID: "calico-bird", Title: "Calico BIRD", Scope: "bird_protocol_up", Label: "node",
		Rows: []monitoring.Row{
			{Title: "Sessions", Panels: []monitoring.Panel{
				monitoring.TimeSeries("Up", "short", `sum by (node) (bird_protocol_up{node=~"$node", proto="BGP"})`, "{{node}}"),
				monitoring.TimeSeries("Down", "short", `count by (node) (bird_protocol_up{node=~"$node", proto="BGP"} == 0)`, "{{node}}"),
				monitoring.TimeSeries("Youngest session", "s", `min by (node) (bird_protocol_uptime{node=~"$node", proto="BGP"})`, "{{node}}"),
				monitoring.TimeSeries("Nodes that miss a peer", "short",
					`count by (ip_version, name) (max by (ip_version, name, node) (bird_protocol_up{node=~"$node", proto="BGP"}) == 0)`,
					"{{name}} IPv{{ip_version}}"),
			}},
			{Title: "Routes", Panels: []monitoring.Panel{
				monitoring.TimeSeries("Learned", "short", `sum by (node) (bird_protocol_prefix_import_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				monitoring.TimeSeries("Told", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				monitoring.TimeSeries("Left out", "short", `sum by (node) (bird_protocol_prefix_filter_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				monitoring.TimeSeries("In the kernel", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="Kernel"})`, "{{node}}"),
			}},
		},
	}
}
