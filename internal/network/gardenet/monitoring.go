package gardenet

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

// job is the name of the agents in Prometheus.
const job = "gardenet-agent"

// monitoringObjects returns the monitoring of gardenet in the seed: the scrape configuration, alerts and dashboards.
func (s *settings) monitoringObjects() ([]client.Object, error) {
	dashboards, err := monitoring.Dashboards("gardenet-dashboards", s.namespace, map[string]monitoring.Dashboard{"gardenet-dashboard.json": dashboard()})
	if err != nil {
		return nil, err
	}
	target := monitoring.Target{Name: Type, Job: job, Service: agentName, PortName: portName, Keep: "gardenet_.+"}
	return []client.Object{monitoring.ScrapeConfig(s.namespace, target), monitoring.Rule(s.namespace, Type, alerts()), dashboards}, nil
}

// alerts are about the agents. Nodes that are not ready have alerts of their own.
func alerts() []monitoring.Alert {
	return []monitoring.Alert{
		{
			Name: "GardenetDown",
			Expression: `absent(up{job="` + job + `"} == 1)` +
				` and on () (count(kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1) > 0)`,
			Wait: "20m", Severity: "critical", Visibility: "all",
			Summary:     "gardenet runs on no node.",
			Description: "No agent of gardenet can be reached although there are nodes that are ready. New nodes get no network, and policies do not follow pods.",
		},
		{
			Name: "GardenetNodeNotReady",
			Expression: `max by (node, pod) (kube_pod_info{created_by_kind="DaemonSet", created_by_name="` + agentName + `", namespace="kube-system", type="shoot"})` +
				` and on (pod) (kube_pod_status_ready{condition="true", namespace="kube-system", type="shoot"} == 0)` +
				` and on (node) (kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1)`,
			Wait: "15m", Severity: "warning", Visibility: "all",
			Summary:     "gardenet is not ready on a node.",
			Description: "{{ $labels.pod }} is not ready on node {{ $labels.node }}, which is. Pods there may have no network, or an outdated one.",
		},
		{
			// Nobody can connect to routers from outside, so that there are no metrics of theirs.
			Name: "GardenetServiceRouterNotReady",
			Expression: `max by (node, pod) (kube_pod_info{created_by_kind="DaemonSet", created_by_name="` + routerName + `", namespace="kube-system", type="shoot"})` +
				` and on (pod) (kube_pod_status_ready{condition="true", namespace="kube-system", type="shoot"} == 0)` +
				` and on (node) (kube_node_status_condition{condition="Ready", status="true", type="shoot"} == 1)`,
			Wait: "30m", Severity: "warning", Visibility: "all",
			Summary:     "Services are not routed on a node, or not by kube-proxy yet.",
			Description: "{{ $labels.pod }} is not ready on node {{ $labels.node }}, which is. Its logs say whether it waits for the API server or for kube-proxy.",
		},
		{
			// An agent that has nothing to change verifies the node every ten minutes.
			Name:       "GardenetNodeOutOfSync",
			Expression: `time() - gardenet_last_success_timestamp_seconds > 1800`,
			Wait:       "5m", Severity: "warning", Visibility: "all",
			Summary:     "The network of a node is outdated.",
			Description: `gardenet on node {{ $labels.node }} has applied nothing for {{ printf "%.0f" $value }} seconds. Its logs say why.`,
		},
		{
			Name:       "GardenetSyncFails",
			Expression: `increase(gardenet_sync_errors_total[15m]) > 5`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "gardenet cannot program a node.",
			Description: `Synchronizations on node {{ $labels.node }} failed {{ printf "%.0f" $value }} times within 15 minutes. The agent's logs say why.`,
		},
		{
			Name:       "GardenetRepairs",
			Expression: `increase(gardenet_repairs_total[1h]) > 0`,
			Wait:       "30m", Severity: "warning", Visibility: "operator",
			Summary:     "Something else changes the network of a node.",
			Description: `gardenet repaired {{ printf "%.0f" $value }} differences within an hour on node {{ $labels.node }}.`,
		},
		{
			Name:       "GardenetNodesUnreachable",
			Expression: `gardenet_unreachable_nodes > 0`,
			Wait:       "15m", Severity: "warning", Visibility: "all",
			Summary:     "Pods of a node do not reach those of other nodes.",
			Description: "Node {{ $labels.node }} has no way to the pods of {{ $value }} other nodes. Its Events with reason NodesUnreachable say why.",
		},
		{
			// Without NetworkPolicies agents do not know the pods, and have no such metric.
			Name:       "GardenetPodAddressesScarce",
			Expression: `gardenet_pod_addresses_free < 3`,
			Wait:       "30m", Severity: "warning", Visibility: "all",
			Summary:     "A node has hardly any addresses for pods.",
			Description: "Node {{ $labels.node }} has {{ $value }} free addresses of {{ $labels.family }}. Further pods will not start there.",
		},
	}
}

func dashboard() monitoring.Dashboard {
	rows := []monitoring.Row{
		{Title: "Now", Panels: []monitoring.Panel{
			monitoring.Stat("Nodes that Prometheus reaches", `sum(up{job="`+job+`"})`),
			monitoring.Stat("Nodes that it does not reach", `count(up{job="`+job+`"} == 0) or vector(0)`),
			monitoring.Stat("Nodes with unreachable ones", `count(gardenet_unreachable_nodes > 0) or vector(0)`),
			monitoring.Stat("Failed synchronizations in an hour", `sum(increase(gardenet_sync_errors_total[1h]))`),
			monitoring.Stat("Repairs in an hour", `sum(increase(gardenet_repairs_total[1h]))`),
			monitoring.Stat("Policies", `max(gardenet_policies)`),
		}},
		{Title: "Synchronizations", Panels: []monitoring.Panel{
			monitoring.TimeSeries("Failed", "ops", `rate(gardenet_sync_errors_total{node=~"$node"}[$__rate_interval])`, "{{node}}"),
			monitoring.TimeSeries("Applied", "ops", `rate(gardenet_sync_duration_seconds_count{node=~"$node", part="apply"}[$__rate_interval])`, "{{node}}"),
			monitoring.TimeSeries("Time to apply (99%)", "s", quantile("apply"), "{{node}}"),
			monitoring.TimeSeries("Time to compute (99%)", "s", quantile("compute"), "{{node}}"),
			monitoring.TimeSeries("Age of the last success", "s", `time() - gardenet_last_success_timestamp_seconds{node=~"$node"}`, "{{node}}"),
			monitoring.TimeSeries("Repairs", "ops", `rate(gardenet_repairs_total{node=~"$node"}[$__rate_interval])`, "{{node}}"),
		}},
		{Title: "The network", Panels: []monitoring.Panel{
			monitoring.TimeSeries("Unreachable nodes", "short", `gardenet_unreachable_nodes{node=~"$node"}`, "{{node}}"),
			monitoring.TimeSeries("Elements of sets", "short", `gardenet_set_elements{node=~"$node"}`, "{{node}}"),
		}},
		{Title: "Pods and policies", Panels: []monitoring.Panel{
			monitoring.TimeSeries("Free addresses for pods", "short", `gardenet_pod_addresses_free{node=~"$node"}`, "{{node}} {{family}}"),
			monitoring.TimeSeries("Dropped packets", "pps", `rate(gardenet_dropped_packets_total{node=~"$node"}[$__rate_interval])`, "{{node}} {{reason}}"),
			monitoring.TimeSeries("Changes that made rules narrower", "short", `changes(gardenet_generation{node=~"$node"}[$__rate_interval])`, "{{node}}"),
		}},
	}
	return monitoring.Dashboard{UID: "gardenet-nodes", Title: "gardenet", Scope: "gardenet_last_success_timestamp_seconds", Label: "node", Rows: rows}
}

// quantile returns an expression for the time of a part of synchronizations.
func quantile(part string) string {
	return fmt.Sprintf(`histogram_quantile(0.99, sum by (le, node) (rate(gardenet_sync_duration_seconds_bucket{node=~"$node", part="%s"}[$__rate_interval])))`, part)
}
