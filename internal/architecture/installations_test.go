package architecture

import "slices"

// installationRules lists the packages of the operator of ControllerInstallations.
func installationRules() []importRule {
	const operator = "internal/controllerinstallation"
	const controllerRuntime = "sigs.k8s.io/controller-runtime/pkg"
	const kube = controllerRuntime + "/client"
	types := "apis/installation/v1alpha1"
	clock := "k8s.io/utils/clock"
	notLinked := []string{"internal/contract/...", "internal/cloud/...", "internal/manager/...", "github.com/gophercloud/..."}
	noHelm := append(slices.Clone(notLinked), "helm.sh/...", "oras.land/...")
	return []importRule{
		{
			packages: "cmd/controllerinstallation-controller",
			reason:   "a binary composes the process and its own contract",
			mayImport: []string{
				"internal/manager", operator + "/...", types, gardenerTypes, "k8s.io/client-go/kubernetes/scheme", "k8s.io/client-go/rest",
			},
			mayNotLink: []string{"internal/contract/...", "internal/cloud/...", "github.com/gophercloud/..."},
		},
		{
			packages:             operator + "/problem",
			reason:               "what can be wrong is said in words, whoever finds it",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages: operator + "/chart",
			reason:   "only here is Helm known, and nothing of what is installed where",
			mayImport: []string{
				operator + "/problem", "helm.sh/helm/v4/...", "oras.land/oras-go/v2/...", "github.com/opencontainers/...", "sigs.k8s.io/yaml",
				"github.com/santhosh-tekuri/jsonschema/v6/...", "golang.org/x/text/...", "k8s.io/utils/lru",
			},
			mayNotLink: append(slices.Clone(notLinked), "sigs.k8s.io/controller-runtime/...", "github.com/gardener/..."),
		},
		{
			packages:   operator + "/rollout",
			reason:     "a decision is pure, so it knows the words of the admin and no API server",
			mayImport:  []string{types},
			mayNotLink: append(slices.Clone(noHelm), "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/..."),
		},
		{
			packages:   operator + "/revision",
			reason:     "revisions are kept in the garden, whoever decides about them",
			mayImport:  []string{operator + "/problem", types, kube, "k8s.io/client-go/util/retry", gardenerTypes},
			mayNotLink: noHelm,
		},
		{
			packages: operator + "/seeds",
			reason:   "the way into a seed is Kubernetes' and Gardener's matter, whatever is done there",
			mayImport: []string{
				kube, kube + "/apiutil", "k8s.io/client-go/...", "golang.org/x/sync/singleflight", gardenerTypes, prometheus, clock,
			},
			mayNotLink: noHelm,
		},
		{
			packages: operator + "/workload",
			reason:   "what goes into a seed is what gardenlet would have brought there, and no revision is known",
			mayImport: slices.Concat([]string{
				operator + "/problem", operator + "/seeds", types, kube, "k8s.io/client-go/...", "k8s.io/pod-security-admission/api", "sigs.k8s.io/yaml",
				gardener + "/pkg/utils",
			}, gardenerLight()),
			mayNotLink: noHelm,
		},
		{
			packages:   operator + "/rendering",
			reason:     "what a template may take is bounded, whatever is rendered for whom",
			mayImport:  []string{operator + "/problem", operator + "/chart", operator + "/workload"},
			mayNotLink: notLinked,
		},
		{
			packages: operator + "/state",
			reason:   "what two controllers know for each other depends on neither of them",
			mayImport: []string{
				operator + "/problem", operator + "/rollout", types, gardenerTypes, "k8s.io/client-go/util/workqueue",
				controllerRuntime + "/reconcile", controllerRuntime + "/source",
			},
			mayNotLink: noHelm,
		},
		{
			packages: operator + "/registered",
			reason:   "what a ControllerDeployment says does not depend on what becomes of it",
			mayImport: []string{
				operator + "/problem", operator + "/chart", operator + "/revision", "internal/fielderrors", "apis/installation/...", kube, gardenerTypes,
			},
			mayNotLink: notLinked,
		},
		{
			packages: operator + "/rolloutcontroller",
			reason:   "what decides about revisions connects to no seed, and does not know the controller that installs",
			mayImport: slices.Concat([]string{
				operator + "/problem", operator + "/registered", operator + "/revision", operator + "/rollout", operator + "/state", types,
				controllerRuntime + "/...", "k8s.io/client-go/tools/events", clock, prometheus,
			}, gardenerLight()),
			mayNotLink: append(slices.Clone(notLinked), operator+"/seeds/...", operator+"/workload/..."),
		},
		{
			packages: operator + "/installationcontroller",
			reason:   "what installs revisions decides about none, and does not know the controller that does",
			mayImport: slices.Concat([]string{
				operator + "/chart", operator + "/problem", operator + "/registered", operator + "/rendering", operator + "/revision",
				operator + "/rollout", operator + "/seeds", operator + "/state", operator + "/workload",
				"internal/fielderrors", "apis/installation/...", controllerRuntime + "/...", "k8s.io/client-go/tools/events", "k8s.io/utils/...", prometheus,
			}, gardenerLight()),
			mayNotLink: append(slices.Clone(notLinked), operator+"/rolloutcontroller/..."),
		},
		{
			packages: operator,
			reason:   "the operator knows the garden and Helm's charts, but no cloud, no driver and no contract that an installation serves",
			mayImport: slices.Concat([]string{
				operator + "/...", "internal/queue", types, controllerRuntime + "/...", "k8s.io/client-go/...", clock, prometheus,
			}, gardenerLight()),
			mayNotLink: notLinked,
		},
	}
}

// installationLimit is for the one binary that knows Helm.
func installationLimit() sizeLimit {
	operator := controllerLimit()
	operator.packages, operator.modules, operator.megabytes = 1150, 120, 70
	operator.templates = true // Helm's
	operator.forbidden = slices.DeleteFunc(operator.forbidden, func(pattern string) bool { return pattern == "helm.sh/..." })
	// Helm's client is not what charts are rendered with.
	operator.forbidden = append(operator.forbidden, "helm.sh/helm/v4/pkg/action/...", "helm.sh/helm/v4/pkg/kube/...", "helm.sh/helm/v4/pkg/cli/...",
		"github.com/google/go-containerregistry/...", ourPath+"/internal/contract/...")
	return operator
}
