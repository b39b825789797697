package architecture

import "slices"

// installations lists the rooms of the operator of ControllerInstallations.
func installations() []room {
	const operator = "internal/controllerinstallation"
	const kube = "sigs.k8s.io/controller-runtime/pkg/client"
	types := "apis/installation/v1alpha1"
	clock := "k8s.io/utils/clock"
	ignorant := []string{"internal/contract/...", "internal/cloud/...", "internal/manager/...", "github.com/gophercloud/..."}
	noHelm := append(slices.Clone(ignorant), "helm.sh/...", "oras.land/...")
	return []room{
		{
			packages: "cmd/controllerinstallation-controller",
			because:  "a binary composes the process and its own contract",
			mayImport: []string{
				"internal/manager", operator + "/...", types, gardenerTypes, "k8s.io/client-go/kubernetes/scheme", "k8s.io/client-go/rest",
			},
			mayNotLink: []string{"internal/contract/...", "internal/cloud/...", "github.com/gophercloud/..."},
		},
		{
			packages:   operator + "/problem",
			because:    "what can be wrong is said in words, whoever finds it",
			spartan:    true,
			mayNotLink: []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages: operator + "/chart",
			because:  "only here is Helm known, and nothing of what is installed where",
			mayImport: []string{
				operator + "/problem", "helm.sh/helm/v4/...", "oras.land/oras-go/v2/...", "github.com/opencontainers/...", "sigs.k8s.io/yaml",
				"github.com/santhosh-tekuri/jsonschema/v6/...", "golang.org/x/text/...", "k8s.io/utils/lru",
			},
			mayNotLink: append(slices.Clone(ignorant), "sigs.k8s.io/controller-runtime/...", "github.com/gardener/..."),
		},
		{
			packages:   operator + "/rollout",
			because:    "a decision is pure, so it knows the words of the admin and no API server",
			mayImport:  []string{types},
			mayNotLink: append(slices.Clone(noHelm), "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/..."),
		},
		{
			packages:   operator + "/revision",
			because:    "revisions are kept in the garden, whoever decides about them",
			mayImport:  []string{operator + "/problem", types, kube, "k8s.io/client-go/util/retry", gardenerTypes},
			mayNotLink: noHelm,
		},
		{
			packages: operator + "/seeds",
			because:  "the way into a seed is Kubernetes' and Gardener's matter, whatever is done there",
			mayImport: []string{
				kube, kube + "/apiutil", "k8s.io/client-go/...", "golang.org/x/sync/singleflight", gardenerTypes, prometheus, clock,
			},
			mayNotLink: noHelm,
		},
		{
			packages: operator + "/workload",
			because:  "what goes into a seed is what gardenlet would have brought there, and no revision is known",
			mayImport: slices.Concat([]string{
				operator + "/problem", operator + "/seeds", types, kube, "k8s.io/client-go/...", "k8s.io/pod-security-admission/api", "sigs.k8s.io/yaml",
				gardener + "/pkg/utils",
			}, gardenerLight()),
			mayNotLink: noHelm,
		},
		{
			packages:   operator + "/rendering",
			because:    "what a template may take is bounded, whatever is rendered for whom",
			mayImport:  []string{operator + "/problem", operator + "/chart", operator + "/workload"},
			mayNotLink: ignorant,
		},
		{
			packages: operator,
			because:  "the operator knows the garden and Helm's charts, but no cloud, no driver and no contract that an installation serves",
			mayImport: slices.Concat([]string{
				operator + "/...", "internal/mistakes", "apis/installation/...", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...", "k8s.io/utils/...", prometheus,
			}, gardenerLight()),
			mayNotLink: ignorant,
		},
	}
}

// installationDiet is for the one binary that knows Helm.
func installationDiet() diet {
	operator := controllerDiet()
	operator.packages, operator.modules, operator.megabytes = 1150, 120, 70
	operator.forbidden = slices.DeleteFunc(operator.forbidden, func(pattern string) bool { return pattern == "helm.sh/..." })
	// Helm's client is not what charts are rendered with.
	operator.forbidden = append(operator.forbidden, "helm.sh/helm/v4/pkg/action/...", "helm.sh/helm/v4/pkg/kube/...", "helm.sh/helm/v4/pkg/cli/...",
		"github.com/google/go-containerregistry/...", ourPath+"/internal/contract/...")
	return operator
}
