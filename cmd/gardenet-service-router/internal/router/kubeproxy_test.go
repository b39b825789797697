package router

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestKubeProxy_State(t *testing.T) {
	both := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	const metric = "# TYPE kubeproxy_sync_proxy_rules_last_timestamp_seconds gauge\n"
	const v4, v6 = metric + `kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"} 1.7e+09` + "\n", `kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv6"} 1.7e+09` + "\n"
	for sentence, test := range map[string]struct {
		mode, metrics string
		families      []corev1.IPFamily
		want          kubeProxyState
	}{
		"it does not run":                    {want: kubeProxyState{}, families: both},
		"it starts":                          {mode: "iptables", metrics: "# no metrics\n", families: both, want: kubeProxyState{runs: true, mode: "iptables"}},
		"it has no metrics":                  {mode: "ipvs", families: both, want: kubeProxyState{runs: true, mode: "ipvs"}},
		"it has no metrics that can be read": {mode: "ipvs", metrics: "{", families: both, want: kubeProxyState{runs: true, mode: "ipvs"}},
		"it has rules of one family":         {mode: "nftables", metrics: v4, families: both, want: kubeProxyState{runs: true, mode: "nftables"}},
		"it has rules of both families":      {mode: "nftables", metrics: v4 + v6, families: both, want: kubeProxyState{runs: true, mode: "nftables", routes: true}},
		"it has rules of the only family":    {mode: "nftables", metrics: v4, families: both[:1], want: kubeProxyState{runs: true, mode: "nftables", routes: true}},
		"it has tried":                       {mode: "iptables", metrics: strings.ReplaceAll(v4, "1.7e+09", "0"), families: both[:1], want: kubeProxyState{runs: true, mode: "iptables"}},
		"an older one that has rules":        {mode: "iptables", metrics: metric + "kubeproxy_sync_proxy_rules_last_timestamp_seconds 1.7e+09\n", families: both, want: kubeProxyState{runs: true, mode: "iptables", routes: true}},
		"an older one that has none":         {mode: "iptables", metrics: metric + "kubeproxy_sync_proxy_rules_last_timestamp_seconds 0\n", families: both, want: kubeProxyState{runs: true, mode: "iptables"}},
		"nobody asks for families":           {mode: "iptables", metrics: v4, want: kubeProxyState{runs: true, mode: "iptables"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
				text := map[string]string{"/proxyMode": test.mode, "/metrics": test.metrics}[request.URL.Path]
				if text == "" {
					response.WriteHeader(http.StatusNotFound)
				}
				fmt.Fprint(response, text)
			}))
			defer server.Close()
			assert.Equal(t, test.want, newKubeProxy(strings.TrimPrefix(server.URL, "http://")).state(t.Context(), test.families))
		})
	}
	assert.Equal(t, kubeProxyState{}, newKubeProxy("127.0.0.1:1").state(t.Context(), both), "nothing listens")
}
