package calico

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

func (s *settings) alerts() []monitoring.Alert {
	alerts := slices.Concat(nodeAlerts(), s.rulesAlerts())
	if s.form.Typha {
		alerts = append(alerts, typhaAlerts()...)
	}
	if s.form.NodesUseTypha {
		alerts = append(alerts, monitoring.Alert{
			Name: "CalicoNodesNotConnectedToTypha",
			Expression: `(sum(typha_connections_streaming{syncer="felix"}) < 0.5 * count(up{job="` + felixJob + `"} == 1))` +
				` and on () (sum(up{job="` + typhaJob + `"}) > 0)`,
			Wait: "15m", Severity: "critical", Visibility: "all",
			Summary:     "Most nodes are not connected to Typha.",
			Description: "Typha serves {{ $value }} nodes, which is fewer than half of them. The others do not learn of new pods and policies.",
		})
	} else {
		// Nodes that use Typha do not count resyncs: Typha does.
		alerts = append(alerts, monitoring.Alert{
			Name:       "CalicoNodeResyncsOften",
			Expression: `increase(felix_resyncs_started[1h]) > 10`,
			Wait:       "30m", Severity: "warning", Visibility: "operator",
			Summary:     "Calico on a node starts to read everything again and again.",
			Description: `Felix on node {{ $labels.node }} began {{ printf "%.0f" $value }} resyncs within an hour. The kube-apiserver does not hold its connections.`,
		})
	}
	if s.exportsBIRD() {
		alerts = append(alerts, bgpAlerts()...)
	}
	return alerts
}

// nodeAlerts are about calico-node, whatever the data plane is. Nodes that are not ready have alerts of their own.
func nodeAlerts() []monitoring.Alert {
	return []monitoring.Alert{
		{
			Name: "CalicoDown",
			Expression: `absent(up{job="` + felixJob + `"} == 1)` +
				` and on () (count(kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1) > 0)`,
			Wait: "20m", Severity: "critical", Visibility: "all",
			Summary:     "Calico runs on no node.",
			Description: "No calico-node can be reached although there are nodes that are ready. New pods get no network.",
		},
		{
			Name: "CalicoNodeNotReady",
			Expression: `max by (node, pod) (kube_pod_info{created_by_kind="DaemonSet", created_by_name="calico-node", namespace="kube-system", type="shoot"})` +
				` and on (pod) (kube_pod_status_ready{condition="true", namespace="kube-system", type="shoot"} == 0)` +
				` and on (node) (kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1)`,
			Wait: "15m", Severity: "warning", Visibility: "all",
			Summary:     "Calico is not ready on a node.",
			Description: "{{ $labels.pod }} is not ready on node {{ $labels.node }}, which is. Pods there may have no network, or an outdated one.",
		},
		{
			Name:       "CalicoNodeOutOfSync",
			Expression: `felix_resync_state != 3`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "Calico on a node does not follow the API.",
			Description: "Felix on node {{ $labels.node }} has not read all it needs for 15 minutes (state {{ $value }}; 1 waits, 2 reads, 3 is in sync).",
		},
		{
			Name:       "CalicoDataplaneFails",
			Expression: `increase(felix_int_dataplane_failures[15m]) > 5`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "Calico cannot program a node.",
			Description: `Updates of the data plane on node {{ $labels.node }} failed {{ printf "%.0f" $value }} times within 15 minutes. Its logs say why.`,
		},
	}
}

// rulesAlerts are about the programs that write the data plane's rules.
func (s *settings) rulesAlerts() []monitoring.Alert {
	var alerts []monitoring.Alert
	if s.form.BPF {
		alerts = append(alerts, monitoring.Alert{
			Name:       "CalicoBPFEndpointsDirty",
			Expression: `felix_bpf_dirty_dataplane_endpoints > 0`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "Calico cannot attach its eBPF programs.",
			Description: "{{ $value }} interfaces on node {{ $labels.node }} are without the program that they need.",
		})
	}
	if s.form.NFTables {
		return append(alerts, monitoring.Alert{
			Name:       "CalicoNFTablesFails",
			Expression: `increase(felix_nft_errors[15m]) + increase(felix_nft_list_errors[15m]) > 5`,
			Wait:       "15m", Severity: "warning", Visibility: "operator",
			Summary:     "nftables rejects Calico's rules.",
			Description: `nft failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}.`,
		})
	}
	return append(alerts, monitoring.Alert{
		Name:       "CalicoIPTablesFails",
		Expression: `increase(felix_iptables_restore_errors[15m]) + increase(felix_iptables_save_errors[15m]) > 5`,
		Wait:       "15m", Severity: "warning", Visibility: "operator",
		Summary:     "iptables rejects Calico's rules.",
		Description: `iptables-restore and iptables-save failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}.`,
	}, monitoring.Alert{
		Name:       "CalicoIPSetsFail",
		Expression: `increase(felix_ipset_errors[15m]) > 5`,
		Wait:       "15m", Severity: "warning", Visibility: "operator",
		Summary:     "Calico cannot write its IP sets.",
		Description: `ipset failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}. Network policies there may be outdated.`,
	})
}

func typhaAlerts() []monitoring.Alert {
	return []monitoring.Alert{
		{
			Name: "CalicoTyphaDown",
			Expression: `absent(up{job="` + typhaJob + `"} == 1)` +
				` and on () (count(kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1) > 0)`,
			Wait: "15m", Severity: "critical", Visibility: "all",
			Summary:     "Typha is down.",
			Description: "No Typha can be reached although there are nodes that are ready. Calico on nodes does not learn of new pods and policies.",
		},
		{
			Name:       "CalicoTyphaDropsConnections",
			Expression: `sum(increase(typha_connections_dropped[30m])) > sum(typha_connections_active)`,
			Wait:       "30m", Severity: "warning", Visibility: "operator",
			Summary:     "Typha sends nodes away again and again.",
			Description: `Typha dropped {{ printf "%.0f" $value }} connections within 30 minutes to share nodes out evenly, which is more than it has.`,
		},
		{
			// Typha disconnects clients that are five minutes behind.
			Name:       "CalicoTyphaClientsLag",
			Expression: `max by (pod, syncer) (typha_client_latency_secs{quantile="0.99"}) > 30`,
			Wait:       "15m", Severity: "warning", Visibility: "operator",
			Summary:     "Nodes cannot keep up with Typha.",
			Description: `Clients of {{ $labels.pod }} ({{ $labels.syncer }}) are {{ printf "%.0f" $value }} seconds behind.`,
		},
	}
}

// bgpAlerts report a lost peer once, not once for every node connected to it. The exporter may put a session's state into a label, which would restart
// the wait with every attempt to connect.
func bgpAlerts() []monitoring.Alert {
	return []monitoring.Alert{
		{
			Name:       "CalicoBGPPeerDown",
			Expression: `count by (ip_version, name) (max by (ip_version, name, node) (bird_protocol_up{proto="BGP"}) == 0)`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "A BGP peer is not connected.",
			Description: "{{ $value }} nodes have no BGP session with {{ $labels.name }} (IPv{{ $labels.ip_version }}). They know no routes to pods behind it.",
		},
		{
			Name:       "CalicoBGPNodeIsolated",
			Expression: `max by (ip_version, node) (bird_protocol_up{proto="BGP"}) == 0`,
			Wait:       "15m", Severity: "critical", Visibility: "all",
			Summary:     "A node has lost all BGP peers.",
			Description: "Node {{ $labels.node }} has no BGP session (IPv{{ $labels.ip_version }}). Its pods and those of other nodes do not reach each other.",
		},
	}
}
