package calico

import (
	"slices"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// alert is an alert of Prometheus.
type alert struct {
	name       string
	expression string
	// wait is how long the expression must be true, as Prometheus writes durations.
	wait string
	// severity is "warning" or "critical".
	severity string
	// visibility is who receives it: "operator", "owner" of the shoot, or "all".
	visibility           string
	summary, description string
}

func (s *settings) prometheusRule() *monitoringv1.PrometheusRule {
	alerts := s.alerts()
	rules := make([]monitoringv1.Rule, 0, len(alerts))
	for _, alert := range alerts {
		rules = append(rules, monitoringv1.Rule{
			Alert: alert.name,
			Expr:  intstr.FromString(alert.expression),
			For:   new(monitoringv1.Duration(alert.wait)),
			Labels: map[string]string{
				"service": "calico", "severity": alert.severity, "type": "shoot", "visibility": alert.visibility,
			},
			Annotations: map[string]string{"summary": alert.summary, "description": alert.description},
		})
	}
	return &monitoringv1.PrometheusRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.PrometheusRuleKind},
		ObjectMeta: s.prometheusMeta("calico"),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: []monitoringv1.RuleGroup{{Name: "calico.rules", Rules: rules}}},
	}
}

func (s *settings) alerts() []alert {
	alerts := slices.Concat(nodeAlerts(), s.rulesAlerts())
	if s.form.Typha {
		alerts = append(alerts, typhaAlerts()...)
	}
	if s.form.NodesUseTypha {
		alerts = append(alerts, alert{
			name: "CalicoNodesNotConnectedToTypha",
			expression: `(sum(typha_connections_streaming{syncer="felix"}) < 0.5 * count(up{job="` + felixJob + `"} == 1))` +
				` and on () (sum(up{job="` + typhaJob + `"}) > 0)`,
			wait: "15m", severity: "critical", visibility: "all",
			summary:     "Most nodes are not connected to Typha.",
			description: "Typha serves {{ $value }} nodes, which is fewer than half of them. The others do not learn of new pods and policies.",
		})
	} else {
		// Nodes that use Typha do not count resyncs: Typha does.
		alerts = append(alerts, alert{
			name:       "CalicoNodeResyncsOften",
			expression: `increase(felix_resyncs_started[1h]) > 10`,
			wait:       "30m", severity: "warning", visibility: "operator",
			summary:     "Calico on a node starts to read everything again and again.",
			description: `Felix on node {{ $labels.node }} began {{ printf "%.0f" $value }} resyncs within an hour. The kube-apiserver does not hold its connections.`,
		})
	}
	if s.exportsBIRD() {
		alerts = append(alerts, bgpAlerts()...)
	}
	return alerts
}

// nodeAlerts are about calico-node, whatever the data plane is. Nodes that are not ready have alerts of their own.
func nodeAlerts() []alert {
	return []alert{
		{
			name: "CalicoDown",
			expression: `absent(up{job="` + felixJob + `"} == 1)` +
				` and on () (count(kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1) > 0)`,
			wait: "20m", severity: "critical", visibility: "all",
			summary:     "Calico runs on no node.",
			description: "No calico-node can be reached although there are nodes that are ready. New pods get no network.",
		},
		{
			name: "CalicoNodeNotReady",
			expression: `max by (node, pod) (kube_pod_info{created_by_kind="DaemonSet", created_by_name="calico-node", namespace="kube-system", type="shoot"})` +
				` and on (pod) (kube_pod_status_ready{condition="true", namespace="kube-system", type="shoot"} == 0)` +
				` and on (node) (kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1)`,
			wait: "15m", severity: "warning", visibility: "all",
			summary:     "Calico is not ready on a node.",
			description: "{{ $labels.pod }} is not ready on node {{ $labels.node }}, which is. Pods there may have no network, or an outdated one.",
		},
		{
			name:       "CalicoNodeOutOfSync",
			expression: `felix_resync_state != 3`,
			wait:       "15m", severity: "warning", visibility: "all",
			summary:     "Calico on a node does not follow the API.",
			description: "Felix on node {{ $labels.node }} has not read all it needs for 15 minutes (state {{ $value }}; 1 waits, 2 reads, 3 is in sync).",
		},
		{
			name:       "CalicoDataplaneFails",
			expression: `increase(felix_int_dataplane_failures[15m]) > 5`,
			wait:       "15m", severity: "warning", visibility: "all",
			summary:     "Calico cannot program a node.",
			description: `Updates of the data plane on node {{ $labels.node }} failed {{ printf "%.0f" $value }} times within 15 minutes. Its logs say why.`,
		},
	}
}

// rulesAlerts are about the programs that write the data plane's rules.
func (s *settings) rulesAlerts() []alert {
	var alerts []alert
	if s.form.BPF {
		alerts = append(alerts, alert{
			name:       "CalicoBPFEndpointsDirty",
			expression: `felix_bpf_dirty_dataplane_endpoints > 0`,
			wait:       "15m", severity: "warning", visibility: "all",
			summary:     "Calico cannot attach its eBPF programs.",
			description: "{{ $value }} interfaces on node {{ $labels.node }} are without the program that they need.",
		})
	}
	if s.form.NFTables {
		return append(alerts, alert{
			name:       "CalicoNFTablesFails",
			expression: `increase(felix_nft_errors[15m]) + increase(felix_nft_list_errors[15m]) > 5`,
			wait:       "15m", severity: "warning", visibility: "operator",
			summary:     "nftables rejects Calico's rules.",
			description: `nft failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}.`,
		})
	}
	return append(alerts, alert{
		name:       "CalicoIPTablesFails",
		expression: `increase(felix_iptables_restore_errors[15m]) + increase(felix_iptables_save_errors[15m]) > 5`,
		wait:       "15m", severity: "warning", visibility: "operator",
		summary:     "iptables rejects Calico's rules.",
		description: `iptables-restore and iptables-save failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}.`,
	}, alert{
		name:       "CalicoIPSetsFail",
		expression: `increase(felix_ipset_errors[15m]) > 5`,
		wait:       "15m", severity: "warning", visibility: "operator",
		summary:     "Calico cannot write its IP sets.",
		description: `ipset failed {{ printf "%.0f" $value }} times within 15 minutes on node {{ $labels.node }}. Network policies there may be outdated.`,
	})
}

func typhaAlerts() []alert {
	return []alert{
		{
			name: "CalicoTyphaDown",
			expression: `absent(up{job="` + typhaJob + `"} == 1)` +
				` and on () (count(kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1) > 0)`,
			wait: "15m", severity: "critical", visibility: "all",
			summary:     "Typha is down.",
			description: "No Typha can be reached although there are nodes that are ready. Calico on nodes does not learn of new pods and policies.",
		},
		{
			name:       "CalicoTyphaDropsConnections",
			expression: `sum(increase(typha_connections_dropped[30m])) > sum(typha_connections_active)`,
			wait:       "30m", severity: "warning", visibility: "operator",
			summary:     "Typha sends nodes away again and again.",
			description: `Typha dropped {{ printf "%.0f" $value }} connections within 30 minutes to share nodes out evenly, which is more than it has.`,
		},
		{
			// Typha disconnects clients that are five minutes behind.
			name:       "CalicoTyphaClientsLag",
			expression: `max by (pod, syncer) (typha_client_latency_secs{quantile="0.99"}) > 30`,
			wait:       "15m", severity: "warning", visibility: "operator",
			summary:     "Nodes cannot keep up with Typha.",
			description: `Clients of {{ $labels.pod }} ({{ $labels.syncer }}) are {{ printf "%.0f" $value }} seconds behind.`,
		},
	}
}

// bgpAlerts report a lost peer once, not once for every node connected to it. The exporter may put a session's state into a label, which would restart
// the wait with every attempt to connect.
func bgpAlerts() []alert {
	return []alert{
		{
			name:       "CalicoBGPPeerDown",
			expression: `count by (ip_version, name) (max by (ip_version, name, node) (bird_protocol_up{proto="BGP"}) == 0)`,
			wait:       "15m", severity: "warning", visibility: "all",
			summary:     "A BGP peer is not connected.",
			description: "{{ $value }} nodes have no BGP session with {{ $labels.name }} (IPv{{ $labels.ip_version }}). They know no routes to pods behind it.",
		},
		{
			name:       "CalicoBGPNodeIsolated",
			expression: `max by (ip_version, node) (bird_protocol_up{proto="BGP"}) == 0`,
			wait:       "15m", severity: "critical", visibility: "all",
			summary:     "A node has lost all BGP peers.",
			description: "Node {{ $labels.node }} has no BGP session (IPv{{ $labels.ip_version }}). Its pods and those of other nodes do not reach each other.",
		},
	}
}
