package calico

import (
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dashboards returns the ConfigMap from which Plutono loads dashboards. The file names are those of upstream's extension: two files of the same name
// from two ConfigMaps would overwrite each other.
func (s *settings) dashboards() (*corev1.ConfigMap, error) {
	shown := map[string]dashboard{"calico-felix-dashboard.json": s.nodesDashboard()}
	if s.form.Typha {
		shown["calico-typha-dashboard.json"] = typhaDashboard()
	}
	if s.exportsBIRD() {
		shown["calico-bird-dashboard.json"] = birdDashboard()
	}
	data := map[string]string{}
	for name, dashboard := range shown {
		content, err := dashboard.json()
		if err != nil {
			return nil, fmt.Errorf("writing dashboard %s: %w", name, err)
		}
		data[name] = content
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: dashboardsName, Namespace: s.namespace,
			Labels: map[string]string{v1beta1constants.LabelPrefixMonitoringDashboard + prometheusName: "true"},
		},
		Data: data,
	}, nil
}

func (s *settings) nodesDashboard() dashboard {
	rows := []dashboardRow{
		{title: "Now", panels: []panel{
			stat("Nodes that Prometheus reaches", `sum(up{job="`+felixJob+`"})`),
			stat("Nodes that it does not reach", `count(up{job="`+felixJob+`"} == 0) or vector(0)`),
			stat("Nodes out of sync", `count(felix_resync_state != 3) or vector(0)`),
			stat("Failed updates in an hour", `sum(increase(felix_int_dataplane_failures[1h]))`),
			stat("Pods with an endpoint", `max(felix_cluster_num_workload_endpoints)`),
			stat("Policies", `max(felix_cluster_num_policies)`),
		}},
		{title: "Data plane", panels: []panel{
			timeSeries("Failed updates", "ops", `rate(felix_int_dataplane_failures{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			timeSeries("Updates", "ops", `rate(felix_int_dataplane_apply_time_seconds_count{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			timeSeries("Time of an update (99%)", "s", `felix_int_dataplane_apply_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
			timeSeries("Routes", "short", `sum by (node) (felix_route_table_num_routes{node=~"$node"})`, "{{node}}"),
			// Prometheus has its own label of the name "type".
			timeSeries("What there was to do", "ops",
				`sum by (exported_type) (rate(felix_int_dataplane_messages{node=~"$node"}[$__rate_interval]))`, "{{exported_type}}"),
			timeSeries("Errors while logging", "ops", `rate(felix_log_errors{node=~"$node"}[$__rate_interval])`, "{{node}}"),
		}},
		s.rulesRow(),
	}
	if s.form.BPF {
		rows = append(rows, bpfRow())
	}
	return dashboard{
		uid: "calico-nodes", title: "Calico Nodes", scope: "felix_resync_state", label: "node",
		rows: append(rows, clusterRow()),
	}
}

func (s *settings) rulesRow() dashboardRow {
	if s.form.NFTables {
		return dashboardRow{title: "nftables", panels: []panel{
			timeSeries("Rules", "short", `sum by (ip_version, node) (felix_nft_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
			{title: "Calls and errors", unit: "ops", queries: []query{
				{`sum(rate(felix_nft_calls{node=~"$node"}[$__rate_interval]))`, "calls"},
				{`sum(rate(felix_nft_errors{node=~"$node"}[$__rate_interval]))`, "errors"},
				{`sum(rate(felix_nft_list_errors{node=~"$node"}[$__rate_interval]))`, "errors of listing"},
			}},
		}}
	}
	return dashboardRow{title: "iptables and IP sets", panels: []panel{
		timeSeries("Rules", "short", `sum by (ip_version, node) (felix_iptables_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
		{title: "Calls and errors", unit: "ops", queries: []query{
			{`sum(rate(felix_iptables_restore_calls{node=~"$node"}[$__rate_interval]))`, "calls"},
			{`sum(rate(felix_iptables_restore_errors{node=~"$node"}[$__rate_interval]))`, "errors"},
			{`sum(rate(felix_iptables_save_errors{node=~"$node"}[$__rate_interval]))`, "errors of reading"},
			{`sum(rate(felix_ipset_errors{node=~"$node"}[$__rate_interval]))`, "errors of ipset"},
		}},
		timeSeries("IP sets", "short", `sum by (node) (felix_ipsets_calico{node=~"$node"})`, "{{node}}"),
	}}
}

func bpfRow() dashboardRow {
	return dashboardRow{title: "eBPF", panels: []panel{
		{title: "Interfaces", unit: "short", queries: []query{
			{`sum(felix_bpf_dataplane_endpoints{node=~"$node"})`, "all"},
			{`sum(felix_bpf_happy_dataplane_endpoints{node=~"$node"})`, "with their programs"},
			{`sum(felix_bpf_dirty_dataplane_endpoints{node=~"$node"})`, "failed"},
		}},
		timeSeries("IP sets", "short", `felix_bpf_num_ip_sets{node=~"$node"}`, "{{node}}"),
	}}
}

func clusterRow() dashboardRow {
	return dashboardRow{title: "Pods, policies and the API", panels: []panel{
		timeSeries("Endpoints on the node", "short", `felix_active_local_endpoints{node=~"$node"}`, "{{node}}"),
		timeSeries("Policies on the node", "short", `felix_active_local_policies{node=~"$node"}`, "{{node}}"),
		{title: "What there is in the shoot", unit: "short", queries: []query{
			{`max(felix_cluster_num_hosts)`, "nodes"},
			{`max(felix_cluster_num_workload_endpoints)`, "endpoints of pods"},
			{`max(felix_cluster_num_host_endpoints)`, "endpoints of nodes"},
			{`max(felix_cluster_num_policies)`, "policies"},
		}},
		timeSeries("State (1 waits, 2 reads, 3 in sync)", "short", `felix_resync_state{node=~"$node"}`, "{{node}}"),
		timeSeries("Resyncs in an hour", "short", `increase(felix_resyncs_started{node=~"$node"}[1h])`, "{{node}}"),
		timeSeries("Time to think about an update (99%)", "s",
			`felix_calc_graph_update_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
	}}
}

func typhaDashboard() dashboard {
	return dashboard{
		uid: "calico-typha", title: "Calico Typha", scope: "typha_connections_active", label: "pod",
		rows: []dashboardRow{
			{title: "Connections", panels: []panel{
				timeSeries("Open", "short", `typha_connections_active{pod=~"$pod"}`, "{{pod}}"),
				timeSeries("Streaming", "short", `sum by (syncer) (typha_connections_streaming{pod=~"$pod"})`, "{{syncer}}"),
				{title: "Coming and going", unit: "ops", queries: []query{
					{`sum(rate(typha_connections_accepted{pod=~"$pod"}[$__rate_interval]))`, "accepted"},
					{`sum(rate(typha_connections_dropped{pod=~"$pod"}[$__rate_interval]))`, "dropped to share out evenly"},
					{`sum(rate(typha_connections_grace_used{pod=~"$pod"}[$__rate_interval]))`, "granted more time"},
				}},
				timeSeries("Round trip (99%)", "s", `max by (pod, syncer) (typha_ping_latency{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
			}},
			{title: "How nodes keep up", panels: []panel{
				timeSeries("Behind by (99%)", "s", `max by (pod, syncer) (typha_client_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				timeSeries("Time of a write (99%)", "s",
					`max by (pod, syncer) (typha_client_write_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				timeSeries("Time to send everything (99%)", "s",
					`max by (pod, syncer) (typha_client_snapshot_send_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				timeSeries("Size of everything", "bytes", `max by (syncer) (typha_snapshot_compressed_bytes{pod=~"$pod"})`, "{{syncer}}"),
			}},
			{title: "What Typha learns", panels: []panel{
				timeSeries("Updates", "ops", `sum by (syncer) (rate(typha_updates_total{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				timeSeries("Updates that say nothing new", "ops", `sum by (syncer) (rate(typha_updates_skipped{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				timeSeries("Objects", "short", `max by (syncer) (typha_cache_size{pod=~"$pod"})`, "{{syncer}}"),
				timeSeries("Errors while logging", "ops", `rate(typha_log_errors{pod=~"$pod"}[$__rate_interval])`, "{{pod}}"),
			}},
		},
	}
}

func birdDashboard() dashboard {
	return dashboard{
		uid: "calico-bird", title: "Calico BIRD", scope: "bird_protocol_up", label: "node",
		rows: []dashboardRow{
			{title: "Sessions", panels: []panel{
				timeSeries("Up", "short", `sum by (node) (bird_protocol_up{node=~"$node", proto="BGP"})`, "{{node}}"),
				timeSeries("Down", "short", `count by (node) (bird_protocol_up{node=~"$node", proto="BGP"} == 0)`, "{{node}}"),
				timeSeries("Youngest session", "s", `min by (node) (bird_protocol_uptime{node=~"$node", proto="BGP"})`, "{{node}}"),
				timeSeries("Nodes that miss a peer", "short",
					`count by (ip_version, name) (max by (ip_version, name, node) (bird_protocol_up{node=~"$node", proto="BGP"}) == 0)`,
					"{{name}} IPv{{ip_version}}"),
			}},
			{title: "Routes", panels: []panel{
				timeSeries("Learned", "short", `sum by (node) (bird_protocol_prefix_import_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				timeSeries("Told", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				timeSeries("Left out", "short", `sum by (node) (bird_protocol_prefix_filter_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				timeSeries("In the kernel", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="Kernel"})`, "{{node}}"),
			}},
		},
	}
}
