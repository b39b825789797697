package router

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
)

const (
	// modeNFTables is the mode in which kube-proxy uses the same table as the router.
	modeNFTables = "nftables"
	// lastSyncMetric is when a proxier has last made its rules. Until Kubernetes 1.33 it has no label for the family.
	lastSyncMetric, familyLabel = "kubeproxy_sync_proxy_rules_last_timestamp_seconds", "ip_family"
)

// kubeProxy is kube-proxy on this node, as it appears from outside.
type kubeProxy struct {
	address string
	client  *http.Client
}

func newKubeProxy(address string) kubeProxy {
	const timeout = 2 * time.Second
	return kubeProxy{address: address, client: &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// kubeProxyState is what kube-proxy does.
type kubeProxyState struct {
	// runs is true when it responds.
	runs bool
	// mode is iptables, ipvs or nftables.
	mode string
	// routes is true when it has made rules for all families that were asked for. Its health does not say that: it is healthy while it starts.
	routes bool
}

func (k kubeProxy) state(ctx context.Context, families []corev1.IPFamily) kubeProxyState {
	mode, err := k.get(ctx, "/proxyMode")
	if err != nil {
		return kubeProxyState{}
	}
	defer mode.Close() //nolint:errcheck // nothing was written
	const longest = 64
	text, err := io.ReadAll(io.LimitReader(mode, longest))
	if err != nil {
		return kubeProxyState{}
	}
	state := kubeProxyState{runs: true, mode: string(text)}
	metrics, err := k.get(ctx, "/metrics")
	if err != nil {
		return state
	}
	defer metrics.Close() //nolint:errcheck // nothing was written
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(metrics)
	if err != nil {
		return state
	}
	state.routes = hasSynced(lastSyncs([]*dto.MetricFamily{parsed[lastSyncMetric]}), families)
	return state
}

func (k kubeProxy) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return response.Body, nil
}

// lastSyncs returns when the proxiers have last made their rules, by family; the key is empty where metrics do not tell families apart. A proxier that has not made
// any is not in it.
func lastSyncs(metrics []*dto.MetricFamily) map[string]time.Time {
	found := map[string]time.Time{}
	for _, metric := range metrics {
		if metric.GetName() != lastSyncMetric {
			continue
		}
		for _, sample := range metric.GetMetric() {
			family := ""
			for _, label := range sample.GetLabel() {
				if label.GetName() == familyLabel {
					family = label.GetValue()
				}
			}
			if seconds := sample.GetGauge().GetValue(); seconds > 0 {
				found[family] = time.UnixMicro(int64(seconds * 1e6))
			}
		}
	}
	return found
}

func hasSynced(last map[string]time.Time, families []corev1.IPFamily) bool {
	if _, all := last[""]; all {
		return true
	}
	for _, family := range families {
		if _, made := last[string(family)]; !made {
			return false
		}
	}
	return len(families) > 0
}
