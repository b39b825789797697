package calico

// felixMetrics are those of calico-node that alerts and dashboards use. All that Felix shows would be a hundred and more
// series for each node, in the memory of the shoot's Prometheus.
func felixMetrics() []string {
	return []string{
		"felix_active_local_endpoints",
		"felix_active_local_policies",
		"felix_bpf_dataplane_endpoints",
		"felix_bpf_dirty_dataplane_endpoints",
		"felix_bpf_happy_dataplane_endpoints",
		"felix_bpf_num_ip_sets",
		"felix_calc_graph_update_time_seconds",
		"felix_cluster_num_host_endpoints",
		"felix_cluster_num_hosts",
		"felix_cluster_num_policies",
		"felix_cluster_num_workload_endpoints",
		"felix_int_dataplane_apply_time_seconds",
		"felix_int_dataplane_apply_time_seconds_count",
		"felix_int_dataplane_failures",
		"felix_int_dataplane_messages",
		"felix_ipset_errors",
		"felix_ipsets_calico",
		"felix_iptables_restore_calls",
		"felix_iptables_restore_errors",
		"felix_iptables_rules",
		"felix_iptables_save_errors",
		"felix_log_errors",
		"felix_nft_calls",
		"felix_nft_errors",
		"felix_nft_list_errors",
		"felix_nft_rules",
		"felix_resync_state",
		"felix_resyncs_started",
		"felix_route_table_num_routes",
	}
}

// typhaMetrics are those of Typha that alerts and dashboards use.
func typhaMetrics() []string {
	return []string{
		"typha_cache_size",
		"typha_client_latency_secs",
		"typha_client_snapshot_send_secs",
		"typha_client_write_latency_secs",
		"typha_connections_accepted",
		"typha_connections_active",
		"typha_connections_dropped",
		"typha_connections_grace_used",
		"typha_connections_streaming",
		"typha_log_errors",
		"typha_ping_latency",
		"typha_snapshot_compressed_bytes",
		"typha_updates_skipped",
		"typha_updates_total",
	}
}

// birdMetrics are those of BIRD that alerts and dashboards use.
func birdMetrics() []string {
	return []string{
		"bird_protocol_prefix_export_count",
		"bird_protocol_prefix_filter_count",
		"bird_protocol_prefix_import_count",
		"bird_protocol_up",
		"bird_protocol_uptime",
	}
}
