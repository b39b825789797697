package calico

import (
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dashboards returns the ConfigMap that Plutono takes dashboards from. It becomes files there, under the names that upstream's
// extension gives them: two of the same name from two ConfigMaps would be one.
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
			number("Nodes that Prometheus reaches", `sum(up{job="`+felixJob+`"})`),
			number("Nodes that it does not reach", `count(up{job="`+felixJob+`"} == 0) or vector(0)`),
			number("Nodes out of sync", `count(felix_resync_state != 3) or vector(0)`),
			number("Failed updates in an hour", `sum(increase(felix_int_dataplane_failures[1h]))`),
			number("Pods with an endpoint", `max(felix_cluster_num_workload_endpoints)`),
			number("Policies", `max(felix_cluster_num_policies)`),
		}},
		{title: "Data plane", panels: []panel{
			curves("Failed updates", "ops", `rate(felix_int_dataplane_failures{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			curves("Updates", "ops", `rate(felix_int_dataplane_apply_time_seconds_count{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			curves("Time of an update (99%)", "s", `felix_int_dataplane_apply_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
			curves("Routes", "short", `sum by (node) (felix_route_table_num_routes{node=~"$node"})`, "{{node}}"),
			// Prometheus has its own label of the name "type".
			curves("What there was to do", "ops",
				`sum by (exported_type) (rate(felix_int_dataplane_messages{node=~"$node"}[$__rate_interval]))`, "{{exported_type}}"),
			curves("Errors while logging", "ops", `rate(felix_log_errors{node=~"$node"}[$__rate_interval])`, "{{node}}"),
		}},
		s.rulesRow(),
	}
	if s.form.BPF {
		rows = append(rows, bpfRow())
	}
	return dashboard{
		uid: "calico-nodes", title: "Calico Nodes", scope: "felix_resync_state", label: "node",
		rows: append(rows, followingRow()),
	}
}

func (s *settings) rulesRow() dashboardRow {
	if s.form.NFTables {
		return dashboardRow{title: "nftables", panels: []panel{
			curves("Rules", "short", `sum by (ip_version, node) (felix_nft_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
			{title: "Calls and errors", unit: "ops", queries: []query{
				{`sum(rate(felix_nft_calls{node=~"$node"}[$__rate_interval]))`, "calls"},
				{`sum(rate(felix_nft_errors{node=~"$node"}[$__rate_interval]))`, "errors"},
				{`sum(rate(felix_nft_list_errors{node=~"$node"}[$__rate_interval]))`, "errors of listing"},
			}},
		}}
	}
	return dashboardRow{title: "iptables and IP sets", panels: []panel{
		curves("Rules", "short", `sum by (ip_version, node) (felix_iptables_rules{node=~"$node"})`, "{{node}} IPv{{ip_version}}"),
		{title: "Calls and errors", unit: "ops", queries: []query{
			{`sum(rate(felix_iptables_restore_calls{node=~"$node"}[$__rate_interval]))`, "calls"},
			{`sum(rate(felix_iptables_restore_errors{node=~"$node"}[$__rate_interval]))`, "errors"},
			{`sum(rate(felix_iptables_save_errors{node=~"$node"}[$__rate_interval]))`, "errors of reading"},
			{`sum(rate(felix_ipset_errors{node=~"$node"}[$__rate_interval]))`, "errors of ipset"},
		}},
		curves("IP sets", "short", `sum by (node) (felix_ipsets_calico{node=~"$node"})`, "{{node}}"),
	}}
}

func bpfRow() dashboardRow {
	return dashboardRow{title: "eBPF", panels: []panel{
		{title: "Interfaces", unit: "short", queries: []query{
			{`sum(felix_bpf_dataplane_endpoints{node=~"$node"})`, "all"},
			{`sum(felix_bpf_happy_dataplane_endpoints{node=~"$node"})`, "with their programs"},
			{`sum(felix_bpf_dirty_dataplane_endpoints{node=~"$node"})`, "failed"},
		}},
		curves("IP sets", "short", `felix_bpf_num_ip_sets{node=~"$node"}`, "{{node}}"),
	}}
}

func followingRow() dashboardRow {
	return dashboardRow{title: "Pods, policies and the API", panels: []panel{
		curves("Endpoints on the node", "short", `felix_active_local_endpoints{node=~"$node"}`, "{{node}}"),
		curves("Policies on the node", "short", `felix_active_local_policies{node=~"$node"}`, "{{node}}"),
		{title: "What there is in the shoot", unit: "short", queries: []query{
			{`max(felix_cluster_num_hosts)`, "nodes"},
			{`max(felix_cluster_num_workload_endpoints)`, "endpoints of pods"},
			{`max(felix_cluster_num_host_endpoints)`, "endpoints of nodes"},
			{`max(felix_cluster_num_policies)`, "policies"},
		}},
		curves("State (1 waits, 2 reads, 3 in sync)", "short", `felix_resync_state{node=~"$node"}`, "{{node}}"),
		curves("Resyncs in an hour", "short", `increase(felix_resyncs_started{node=~"$node"}[1h])`, "{{node}}"),
		curves("Time to think about an update (99%)", "s",
			`felix_calc_graph_update_time_seconds{node=~"$node", quantile="0.99"}`, "{{node}}"),
	}}
}

func typhaDashboard() dashboard {
	return dashboard{
		uid: "calico-typha", title: "Calico Typha", scope: "typha_connections_active", label: "pod",
		rows: []dashboardRow{
			{title: "Connections", panels: []panel{
				curves("Open", "short", `typha_connections_active{pod=~"$pod"}`, "{{pod}}"),
				curves("Streaming", "short", `sum by (syncer) (typha_connections_streaming{pod=~"$pod"})`, "{{syncer}}"),
				{title: "Coming and going", unit: "ops", queries: []query{
					{`sum(rate(typha_connections_accepted{pod=~"$pod"}[$__rate_interval]))`, "accepted"},
					{`sum(rate(typha_connections_dropped{pod=~"$pod"}[$__rate_interval]))`, "dropped to share out evenly"},
					{`sum(rate(typha_connections_grace_used{pod=~"$pod"}[$__rate_interval]))`, "granted more time"},
				}},
				curves("Round trip (99%)", "s", `max by (pod, syncer) (typha_ping_latency{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
			}},
			{title: "How nodes keep up", panels: []panel{
				curves("Behind by (99%)", "s", `max by (pod, syncer) (typha_client_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				curves("Time of a write (99%)", "s",
					`max by (pod, syncer) (typha_client_write_latency_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				curves("Time to send everything (99%)", "s",
					`max by (pod, syncer) (typha_client_snapshot_send_secs{pod=~"$pod", quantile="0.99"})`, "{{pod}} {{syncer}}"),
				curves("Size of everything", "bytes", `max by (syncer) (typha_snapshot_compressed_bytes{pod=~"$pod"})`, "{{syncer}}"),
			}},
			{title: "What Typha learns", panels: []panel{
				curves("Updates", "ops", `sum by (syncer) (rate(typha_updates_total{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				curves("Updates that say nothing new", "ops", `sum by (syncer) (rate(typha_updates_skipped{pod=~"$pod"}[$__rate_interval]))`, "{{syncer}}"),
				curves("Objects", "short", `max by (syncer) (typha_cache_size{pod=~"$pod"})`, "{{syncer}}"),
				curves("Errors while logging", "ops", `rate(typha_log_errors{pod=~"$pod"}[$__rate_interval])`, "{{pod}}"),
			}},
		},
	}
}

func birdDashboard() dashboard {
	return dashboard{
		uid: "calico-bird", title: "Calico BIRD", scope: "bird_protocol_up", label: "node",
		rows: []dashboardRow{
			{title: "Sessions", panels: []panel{
				curves("Up", "short", `sum by (node) (bird_protocol_up{node=~"$node", proto="BGP"})`, "{{node}}"),
				curves("Down", "short", `count by (node) (bird_protocol_up{node=~"$node", proto="BGP"} == 0)`, "{{node}}"),
				curves("Youngest session", "s", `min by (node) (bird_protocol_uptime{node=~"$node", proto="BGP"})`, "{{node}}"),
				curves("Nodes that miss a peer", "short",
					`count by (ip_version, name) (max by (ip_version, name, node) (bird_protocol_up{node=~"$node", proto="BGP"}) == 0)`,
					"{{name}} IPv{{ip_version}}"),
			}},
			{title: "Routes", panels: []panel{
				curves("Learned", "short", `sum by (node) (bird_protocol_prefix_import_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				curves("Told", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				curves("Left out", "short", `sum by (node) (bird_protocol_prefix_filter_count{node=~"$node", proto="BGP"})`, "{{node}}"),
				curves("In the kernel", "short", `sum by (node) (bird_protocol_prefix_export_count{node=~"$node", proto="Kernel"})`, "{{node}}"),
			}},
		},
	}
}
