package architecture

import "slices"

// gardenetRules lists what runs on the nodes of shoots, and what its driver shares with it.
func gardenetRules() []importRule {
	// Nodes have little memory to spare: their agent is linked with client-go's lower layers only.
	notLinked := []string{
		gardener, "sigs.k8s.io/controller-runtime", "k8s.io/apiserver", "k8s.io/component-base", "helm.sh/...", "github.com/gophercloud/...", "github.com/aws/...",
	}
	pure := append([]string{"k8s.io/client-go", "github.com/prometheus/...", "github.com/vishvananda/..."}, notLinked...)
	routerMayNotLink := []string{gardener, "sigs.k8s.io/controller-runtime", "helm.sh/...", "github.com/gophercloud/...", "github.com/aws/..."}
	return []importRule{
		{
			packages:   "cmd/gardenet-agent",
			reason:     "the binary combines the process of the agent, what is computed, and what applies it",
			mayImport:  []string{"internal/gardenet/..."},
			mayNotLink: notLinked,
		},
		{
			packages:   "cmd/gardenet-service-router/internal/router",
			reason:     "it composes Kubernetes' proxier, and must not know how the process is configured, nor gardenet's agent",
			mayImport:  []string{"k8s.io/...", "github.com/prometheus/...", "github.com/vishvananda/netlink/nl", "golang.org/x/sys/unix"},
			mayNotLink: routerMayNotLink,
		},
		{
			packages: "cmd/gardenet-service-router/internal/command",
			reason:   "the process knows the router, but not how Services become rules",
			mayImport: []string{
				"cmd/gardenet-service-router/internal/router", "internal/buildinfo", "internal/signals", "internal/logging", "internal/memory", "internal/gardenet/process", "k8s.io/client-go/...", "k8s.io/klog/v2",
				"k8s.io/component-base/metrics/legacyregistry", "github.com/spf13/pflag", "golang.org/x/sys/unix",
			},
			mayNotLink: routerMayNotLink,
		},
		{
			packages:   "cmd/gardenet-service-router",
			reason:     "the binary is its process",
			mayImport:  []string{"cmd/gardenet-service-router/internal/command"},
			mayNotLink: routerMayNotLink,
		},
		{
			packages: "internal/gardenet/agent/command",
			reason:   "the process knows the agent, but neither how the state of a node is computed nor how it is applied",
			mayImport: []string{
				"internal/buildinfo", "internal/metriclist", "internal/signals", "internal/gardenet/agent/...", "internal/gardenet/config", "internal/gardenet/desired", "internal/gardenet/process",
				"internal/logging", "internal/memory", "k8s.io/klog/v2", "github.com/spf13/pflag",
				"github.com/prometheus/client_golang/...",
			},
			mayNotLink: notLinked,
		},
		{
			packages:   "internal/gardenet/process",
			reason:     "a process on a node reaches the API server and serves HTTP whatever its work is",
			mayImport:  []string{"internal/memory", "k8s.io/client-go/rest", "k8s.io/client-go/tools/clientcmd"},
			mayNotLink: append([]string{"github.com/prometheus/...", "github.com/vishvananda/..."}, notLinked...),
		},
		{
			packages:   "internal/gardenet/agent/plugins",
			reason:     "copying plugins depends on nothing",
			mayNotLink: pure,
		},
		{
			packages: "internal/gardenet/agent",
			reason:   "the agent decides when the state of a node is computed and applied, and must not know how",
			mayImport: []string{
				"internal/gardenet/config", "internal/gardenet/desired", "internal/gardenet/policy", "k8s.io/client-go/rest", "k8s.io/client-go/tools/cache", prometheus,
			},
			mayNotLink: slices.Concat(notLinked, []string{"github.com/vishvananda/..."}),
		},
		{
			packages:   "internal/gardenet/apply",
			reason:     "a state is applied whatever it was computed from",
			mayImport:  []string{"internal/gardenet/desired", "internal/gardenet/nft", "internal/gardenet/policy", "github.com/vishvananda/netlink/...", "golang.org/x/sys/unix"},
			mayNotLink: slices.Concat(notLinked, []string{"k8s.io/client-go", "github.com/prometheus/..."}),
		},
		{
			packages:   "internal/gardenet/nflog",
			reason:     "packets of the kernel's log are received whatever rules have logged them",
			mayImport:  []string{"github.com/vishvananda/netlink/nl", "golang.org/x/sys/unix"},
			mayNotLink: slices.Concat(notLinked, []string{"k8s.io/client-go", "github.com/prometheus/..."}),
		},
		{
			packages:   "internal/gardenet/desired",
			reason:     "the state of a node is a pure function of the configuration, the cluster and facts of the node",
			mayImport:  []string{"internal/gardenet/config", "internal/gardenet/nft", "internal/gardenet/policy"},
			mayNotLink: pure,
		},
		{
			packages:   "internal/gardenet/policy/...",
			reason:     "rules are a pure function of NetworkPolicies and what they select",
			mayImport:  slices.Concat([]string{"internal/gardenet/nft/...", "internal/gardenet/policy/..."}, testLibraries()),
			mayNotLink: pure,
		},
		{
			packages:             "internal/gardenet/nft/...",
			reason:               "a table is data and text; it depends on nothing",
			withoutCommonImports: true,
			mayImport:            slices.Concat([]string{"internal/gardenet/nft/..."}, testLibraries()),
			mayNotLink:           pure,
		},
		{
			packages:             "internal/gardenet/config",
			reason:               "the driver and the agents share the configuration and nothing else",
			withoutCommonImports: true,
			mayNotLink:           append([]string{"k8s.io/..."}, pure...),
		},
	}
}
