package architecture

import "slices"

// importRule says what a set of packages may import.
type importRule struct {
	// packages and mayImport are patterns in the go command's notation; those of this module are relative to its path.
	packages string
	// reason explains the rule.
	reason string
	// mayImport lists what its files may import directly besides the standard library and, unless withoutCommonImports is set, commonImports.
	mayImport []string
	// withoutCommonImports packages do without what everybody may import.
	withoutCommonImports bool
	// mayNotLink lists modules that must not be linked, not even indirectly.
	mayNotLink []string
}

func commonImports() []string {
	return []string{"k8s.io/apimachinery/...", "k8s.io/api/...", "github.com/go-logr/logr", "internal/truncate", "internal/kinds"}
}

// importRules returns the import law. The first rule whose pattern matches a package applies to it.
func importRules() []importRule {
	return slices.Concat(processRules(), installationRules(), admissionRules(), contractRules(), gardenetRules(), machineRules(), cloudRules(), otherModuleRules())
}

func processRules() []importRule {
	return []importRule{
		{
			packages: "cmd/infrastructure-controller",
			reason:   "a binary combines the process, its contract, that contract's drivers and their clouds",
			mayImport: []string{
				"internal/manager", "internal/contract", "internal/observer", "internal/infrastructure/...", "internal/cloud/...", gardenerTypes,
			},
		},
		{
			packages: "cmd/controlplane-controller",
			reason:   "a binary combines the process, its contract and that contract's drivers",
			mayImport: []string{
				"internal/manager/...", "internal/contract", "internal/contract/images", "internal/observer", "internal/controlplane/...", gardenerTypes,
			},
			mayNotLink: []string{"internal/infrastructure/..."},
		},
		{
			packages: "cmd/network-controller",
			reason:   "a binary combines the process, its contract and that contract's drivers",
			mayImport: []string{
				"internal/manager", "internal/buildinfo", "internal/contract", "internal/contract/images", "internal/observer", "internal/network/...", gardenerTypes,
			},
			mayNotLink: []string{"internal/infrastructure/...", "internal/controlplane/...", "github.com/gophercloud/..."},
		},
		{
			packages: "cmd/worker-controller",
			reason:   "a binary combines the process, its contract, that contract's drivers and their clouds",
			mayImport: []string{
				"internal/manager/...", "internal/buildinfo", "internal/contract", "internal/contract/images", "internal/observer", "internal/worker/...",
				"internal/cloud/...", gardenerTypes,
			},
			mayNotLink: []string{"internal/infrastructure/...", "internal/controlplane/...", "internal/network/...", "internal/machine/..."},
		},
		{
			packages: "cmd/machine-controller-aws",
			reason:   "a binary combines the process, its driver and its cloud",
			mayImport: []string{
				"internal/machine/...", "internal/buildinfo", "internal/cloud/...", prometheus,
			},
			mayNotLink: []string{"internal/contract/...", "internal/worker/...", gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/..."},
		},
		{
			packages: "cmd/machine-controller-openstack",
			reason:   "a binary combines the process, its driver and its cloud",
			mayImport: []string{
				"internal/machine/...", "internal/buildinfo", "internal/cloud/...", prometheus,
			},
			mayNotLink: []string{"internal/contract/...", "internal/worker/...", gardener, "sigs.k8s.io/controller-runtime"},
		},
		{
			packages: "cmd/admission",
			reason:   "a binary combines the process and the validation of all types",
			mayImport: []string{
				"internal/manager/...", "internal/admission/...", "sigs.k8s.io/controller-runtime/pkg/client", gardenerTypes,
			},
			mayNotLink: []string{"internal/contract/...", "internal/cloud/...", "internal/network/...", "github.com/gophercloud/..."},
		},
		{
			packages:   "cmd/trellis-inspect",
			reason:     "the command for admins combines the report and the clouds that it reads",
			mayImport:  []string{"internal/inspect/..."},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/...", "github.com/aws/..."},
		},
		{
			packages:   "internal/inspect/recorded",
			reason:     "recorded resources of all types are read from the record, which knows no type",
			mayImport:  []string{"internal/inspect", "internal/cloud/record"},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/...", "github.com/aws/..."},
		},
		{
			packages: "internal/inspect/openstack",
			reason:   "recorded resources are read from API types and the record, without the driver and its SDK",
			mayImport: []string{
				"internal/inspect", "internal/inspect/recorded", "internal/cloud/record", "apis/openstack/...",
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/...", "github.com/aws/..."},
		},
		{
			packages: "internal/inspect/aws",
			reason:   "recorded resources are read from API types and the record, without the driver and its SDK",
			mayImport: []string{
				"internal/inspect", "internal/inspect/recorded", "internal/cloud/record", "apis/aws/...",
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/...", "github.com/aws/..."},
		},
		{
			packages: "internal/inspect",
			reason:   "a report is read from Gardener's API and depends on no contract, driver or cloud",
			mayImport: []string{
				"internal/buildinfo", "internal/worker/drivererror", "k8s.io/client-go/dynamic", "k8s.io/client-go/rest", "k8s.io/client-go/tools/clientcmd",
				"github.com/spf13/pflag", machineTypes, gardenerTypes,
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/..."},
		},
		{
			packages: "internal/manager/webhook",
			reason:   "serving webhooks needs the process and Gardener's secrets manager, but no contract, driver or cloud",
			mayImport: []string{
				"internal/manager", "sigs.k8s.io/controller-runtime/...", "k8s.io/utils/clock", prometheus,
				gardener + "/pkg/apis/core/v1beta1/constants", gardener + "/pkg/utils/secrets/...",
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/manager",
			reason:   "the process depends on controller-runtime, but on no contract, driver or cloud",
			mayImport: []string{
				"internal/buildinfo", "internal/logging", "internal/memory", "internal/metriclist", "internal/signals", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...",
				"k8s.io/klog/v2",
				"github.com/spf13/pflag", prometheus,
			},
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:             "internal/truncate",
			reason:               "all packages may truncate texts, so it depends on nothing",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages: "internal/metriclist/reference",
			reason:   "the page about metrics is written from the output of binaries, and from the libraries that they use",
			mayImport: []string{
				"internal/metriclist", "internal/queue", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...", "k8s.io/apiserver/pkg/admission/...",
				"k8s.io/component-base/metrics/legacyregistry",
			},
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:             "internal/metriclist",
			reason:               "all binaries list their metrics, so it depends on Prometheus' library only",
			withoutCommonImports: true,
			mayImport:            []string{prometheus},
			mayNotLink:           []string{"k8s.io/...", "github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:             "internal/kinds",
			reason:               "all packages may register kinds, so it depends on none",
			mayImport:            []string{"k8s.io/apimachinery/..."},
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/api/...", "k8s.io/client-go/...", "github.com/gardener/...", "sigs.k8s.io/controller-runtime/..."},
		},
		{
			packages:   "internal/golden",
			reason:     "golden files are texts; the tests that use them know what was rendered",
			mayImport:  slices.Concat([]string{"sigs.k8s.io/yaml"}, testLibraries()),
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/...", "sigs.k8s.io/controller-runtime/..."},
		},
		{
			packages:   "internal/fielderrors",
			reason:     "it depends neither on the documents nor on the readers of the errors",
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/...", "sigs.k8s.io/controller-runtime/..."},
		},
		{
			packages: "internal/queue",
			reason:   "the queue of controllers depends on controller-runtime, but on no controller",
			mayImport: slices.Concat([]string{
				"k8s.io/client-go/util/workqueue", "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue", "sigs.k8s.io/controller-runtime/pkg/metrics",
				"sigs.k8s.io/controller-runtime/pkg/reconcile", prometheus,
			}, testLibraries()),
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:   "internal/pages",
			reason:     "lists are read in the same way whatever their kind is",
			mayImport:  []string{"sigs.k8s.io/controller-runtime/pkg/client"},
			mayNotLink: []string{"github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:   "internal/logging",
			reason:     "lines of all processes look alike, whatever the processes do",
			mayImport:  []string{"github.com/go-logr/zapr", "go.uber.org/zap/..."},
			mayNotLink: []string{"k8s.io/...", "sigs.k8s.io/...", "github.com/gardener/...", "github.com/gophercloud/..."},
		},
		{
			packages:             "internal/memory",
			reason:               "all programs of the product may be small, so it depends on nothing",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/signals",
			reason:               "all programs handle signals in the same way, so it depends on nothing",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/buildinfo",
			reason:               "all binaries use it, so it depends on nothing",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
	}
}

// admissionRules lists what runs in the garden.
func admissionRules() []importRule {
	light := []string{
		"internal/fielderrors", "internal/mutation", "internal/pages", "apis/ratcheting", "sigs.k8s.io/controller-runtime/pkg/client",
		"sigs.k8s.io/controller-runtime/pkg/log", "sigs.k8s.io/controller-runtime/pkg/webhook/admission", gardenerTypes,
	}
	notLinked := []string{"internal/contract/...", "internal/cloud/...", "internal/manager/...", "github.com/gophercloud/...", gardener + "/extensions/..."}
	ofTypes := []string{"apis/openstack/...", "apis/aws/...", "apis/calico/...", "apis/gardenet/...", "apis/networking", "apis/installation/..."}
	const oneType = "validation of one type reads objects and calls the API types' validation functions; it makes no request to a cloud"
	return []importRule{
		{
			packages:   "internal/admission/openstack",
			reason:     oneType,
			mayImport:  slices.Concat([]string{"internal/admission", "apis/openstack/..."}, light),
			mayNotLink: notLinked,
		},
		{
			packages:   "internal/admission/aws",
			reason:     oneType,
			mayImport:  slices.Concat([]string{"internal/admission", "apis/aws/...", "apis/networking"}, light),
			mayNotLink: notLinked,
		},
		{
			packages:   "internal/admission/calico",
			reason:     oneType,
			mayImport:  slices.Concat([]string{"internal/admission", "apis/calico/...", "apis/networking"}, light),
			mayNotLink: notLinked,
		},
		{
			packages:   "internal/admission/gardenet",
			reason:     oneType,
			mayImport:  slices.Concat([]string{"internal/admission", "apis/gardenet/...", "apis/networking"}, light),
			mayNotLink: notLinked,
		},
		{
			packages:   "internal/admission/registration",
			reason:     "the rules for registrations are Gardener's and do not depend on the type",
			mayImport:  slices.Concat([]string{"internal/admission"}, light),
			mayNotLink: slices.Concat(ofTypes, notLinked),
		},
		{
			packages:   "internal/admission",
			reason:     "what all validation shares concerns admission and the garden, and no type",
			mayImport:  slices.Concat([]string{gardener + "/pkg/utils/validation/features"}, light),
			mayNotLink: slices.Concat(ofTypes, notLinked),
		},
	}
}

func contractRules() []importRule {
	return []importRule{
		{
			packages: "internal/contract/contracttest",
			reason:   "the suite uses the runtime as a client does and depends on no contract",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/cloud", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...",
				"golang.org/x/sync/...", "github.com/go-logr/logr/...", prometheus, machineTypes,
			}, gardenerLight(), testLibraries()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/definitions",
			reason:     "definitions of custom resources are data, whoever embeds them",
			mayImport:  []string{"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/yaml", gardener + "/pkg/apis/resources/v1alpha1"},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/contract/managedresource",
			reason:   "deploying depends on gardener-resource-manager and the runtime, but on no contract",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/definitions", "sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/client-go/util/retry",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/contract/shootclient",
			reason:   "access to a shoot depends on Gardener's Secrets, but on no contract",
			mayImport: slices.Concat([]string{
				"internal/cloud", "sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/client-go/...",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/mutation",
			reason:   "what webhooks share concerns admission, and neither a contract nor the objects that are changed",
			mayImport: []string{
				"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/controller-runtime/pkg/log", "sigs.k8s.io/controller-runtime/pkg/webhook/admission",
			},
			mayNotLink: []string{"github.com/gophercloud/...", "github.com/gardener/..."},
		},
		{
			packages:   "internal/contract/images",
			reason:     "image vectors are Gardener's format; the images are the caller's",
			mayImport:  []string{gardener + "/pkg/utils/imagevector"},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/contract",
			reason:   "the runtime depends on Gardener and error kinds, but on no contract, driver or SDK",
			mayImport: slices.Concat([]string{
				"internal/cloud", "internal/queue", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...", "k8s.io/utils/...", prometheus,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/observer",
			reason:   "the runtime of secondary controllers depends on Gardener and the objects of contracts, but on no contract, driver, cloud or SDK",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/kinds", "internal/pages", "internal/queue", "sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/...", "k8s.io/utils/...", prometheus,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/infrastructure/infrastructuretest",
			reason:   "the suite tests any driver, so it depends on none",
			mayImport: slices.Concat([]string{
				"internal/infrastructure", "internal/contract/...", "internal/cloud", "sigs.k8s.io/controller-runtime/...",
				prometheus,
			}, gardenerLight(), testLibraries()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/infrastructure/openstack",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result",
			mayImport: []string{
				"internal/infrastructure", "internal/contract", "internal/observer", "internal/cloud", "internal/cloud/record", "internal/fielderrors",
				"internal/cloud/openstack",
				"internal/cloud/openstack/auth",
				"apis/openstack/...", "apis/networking", gardenerTypes,
			},
		},
		{
			packages: "internal/infrastructure/aws",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result",
			mayImport: []string{
				"internal/infrastructure", "internal/contract", "internal/cloud", "internal/cloud/record", "internal/fielderrors",
				"internal/cloud/aws", "internal/cloud/aws/auth", "apis/aws/...", "apis/networking", gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/infrastructure/example",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result",
			mayImport: []string{
				"internal/infrastructure", "internal/contract", "internal/cloud", "internal/fielderrors", "internal/cloud/example",
				"apis/example/...", gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/infrastructure",
			reason:   "a contract depends on the runtime and error kinds, but on no driver, other contract or SDK",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/observer", "internal/cloud", "internal/fielderrors",
				"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/controller-runtime/pkg/manager",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/controlplane/controlplanetest",
			reason:   "the suite simulates the API server and gardener-resource-manager, and depends on no driver",
			mayImport: slices.Concat([]string{
				"internal/controlplane/...", "internal/contract/...", "internal/cloud", "sigs.k8s.io/controller-runtime/...",
				"k8s.io/client-go/...", "sigs.k8s.io/yaml", prometheus,
			}, gardenerLight(), testLibraries()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/controlplane/component",
			reason:   "components of the seed are rendered independently of cloud, cluster and contract",
			mayImport: slices.Concat([]string{
				"sigs.k8s.io/controller-runtime/pkg/client", vpaTypes, monitoringTypes, "k8s.io/utils/...",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/controlplane/csi",
			reason:   "storage drivers are rendered independently of cloud, cluster and contract",
			mayImport: slices.Concat([]string{
				"internal/controlplane/component", "internal/controlplane/rbac", "internal/definitions", "sigs.k8s.io/controller-runtime/pkg/client", vpaTypes,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/controlplane/gcfg",
			reason:     "a configuration file is a text; it knows syntax only",
			mayImport:  []string{"internal/cloud"},
			mayNotLink: []string{"github.com/gophercloud/...", "sigs.k8s.io/controller-runtime/..."},
		},
		{
			packages:   "internal/controlplane/rbac",
			reason:     "permissions are objects; they know no component",
			mayImport:  []string{"sigs.k8s.io/controller-runtime/pkg/client"},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/controlplane/featuregates",
			reason:     "feature gates are checked against Gardener's list",
			mayImport:  []string{gardener + "/pkg/utils/validation/features"},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/controlplane/calico",
			reason:     "what native routing needs in a shoot depends on the network plugin, and on no cloud",
			mayImport:  []string{"internal/controlplane", "apis/networking", "sigs.k8s.io/controller-runtime/pkg/client"},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/controlplane/tuning",
			reason:   "changes of Gardener's components are pure functions of the objects",
			mayImport: slices.Concat([]string{
				"sigs.k8s.io/yaml", "github.com/gardener/etcd-druid/api/...", "sigs.k8s.io/controller-runtime/pkg/client",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/...", "sigs.k8s.io/controller-runtime/pkg/manager"},
		},
		{
			packages: "internal/controlplane/openstack",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result, and no client",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/cloud", "internal/fielderrors", "internal/cloud/openstack/auth", "apis/openstack/...",
				"sigs.k8s.io/controller-runtime/pkg/client", gardenerTypes,
			}, planPackages()),
		},
		{
			packages: "internal/controlplane/aws",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result, and no client",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/cloud", "internal/fielderrors", "internal/definitions", "internal/cloud/aws/auth", "apis/aws/...",
				"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/yaml", gardenerTypes,
			}, planPackages()),
			mayNotLink: []string{"github.com/gophercloud/...", "github.com/aws/..."},
		},
		{
			packages: "internal/controlplane/example",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result, and no client",
			mayImport: []string{
				"internal/controlplane", "internal/controlplane/component", "internal/controlplane/csi", "internal/controlplane/tuning",
				"internal/contract", "internal/cloud", "internal/fielderrors", "internal/cloud/example", "apis/example/...",
				"sigs.k8s.io/controller-runtime/pkg/client", gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/controlplane",
			reason:   "a contract depends on the runtime and error kinds, but on no driver, other contract or SDK",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/contract/managedresource", "internal/contract/shootclient", "internal/contract/images", "internal/definitions",
				"internal/mutation", "internal/observer", "internal/cloud", "internal/fielderrors", "internal/controlplane/component", "internal/controlplane/csi", "internal/controlplane/tuning",
				"sigs.k8s.io/controller-runtime/pkg/client/...", "sigs.k8s.io/controller-runtime/pkg/manager",
				"sigs.k8s.io/controller-runtime/pkg/webhook/admission", "github.com/gardener/etcd-druid/api/...",
				"k8s.io/client-go/...", "k8s.io/utils/...", "sigs.k8s.io/yaml", vpaTypes, monitoringTypes,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network/networktest",
			reason:   "the suite simulates the API server, gardener-resource-manager and nodes, and depends on no driver",
			mayImport: slices.Concat([]string{
				"internal/network", "internal/contract/...", "internal/cloud", "sigs.k8s.io/controller-runtime/...",
				"k8s.io/client-go/...", "sigs.k8s.io/yaml", prometheus,
			}, gardenerLight(), testLibraries()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network/calico/crds",
			reason:   "CustomResourceDefinitions are data and do not depend on the plugin's settings",
			mayImport: []string{
				"internal/definitions",
			},
		},
		{
			packages: "internal/network/calico",
			reason:   "a driver depends on its contract and its plugin, but uses neither Manager nor Request nor Result, and no client",
			mayImport: slices.Concat([]string{
				"internal/network", "internal/network/monitoring", "internal/network/calico/crds", "internal/definitions", "internal/cloud", "apis/calico/...",
				"sigs.k8s.io/controller-runtime/pkg/client", vpaTypes, monitoringTypes, "k8s.io/utils/...",
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network/gardenet/manifest",
			reason:   "it prints what the driver renders, and writes to no API server",
			mayImport: []string{
				"internal/network", "internal/network/gardenet", "internal/gardenet/config", "apis/gardenet/v1alpha1", "sigs.k8s.io/yaml", gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network/gardenet",
			reason:   "a driver depends on its contract, its plugin and the document for its agents, but uses neither Manager nor Request nor Result, and no client",
			mayImport: slices.Concat([]string{
				"internal/network", "internal/network/monitoring", "internal/cloud", "internal/gardenet/config", "apis/gardenet/...",
				"sigs.k8s.io/controller-runtime/pkg/client", vpaTypes,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/network/monitoring",
			reason:     "the objects of monitoring are alike for all plugins, and it depends on none",
			mayImport:  []string{monitoringTypes, gardenerTypes},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network/examplenet",
			reason:   "a driver depends on its contract and its plugin, but uses neither Manager nor Request nor Result, and no client",
			mayImport: []string{
				"internal/network", "internal/cloud", "apis/examplenet/...", "sigs.k8s.io/controller-runtime/pkg/client", gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/network",
			reason:   "a contract depends on the runtime, error kinds and the table of infrastructures, but on no driver, other contract or SDK",
			mayImport: slices.Concat([]string{
				"internal/contract", "internal/contract/managedresource", "internal/contract/shootclient", "internal/contract/images",
				"internal/cloud", "internal/observer", "internal/fielderrors", "apis/networking", "sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/controller-runtime/pkg/manager",
				"k8s.io/client-go/kubernetes/scheme", vpaTypes, monitoringTypes,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/worker/workertest",
			reason:   "the suite simulates the API server and machine-controller-manager, and depends on no driver",
			mayImport: slices.Concat([]string{
				"internal/worker", "internal/contract/...", "internal/observer", "internal/cloud", "sigs.k8s.io/controller-runtime/...",
				"k8s.io/client-go/...", "sigs.k8s.io/yaml", machineTypes, vpaTypes, prometheus,
			}, gardenerLight(), testLibraries()),
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages: "internal/worker/openstack",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result, and no client",
			mayImport: slices.Concat([]string{
				"internal/worker", "internal/contract", "internal/cloud", "internal/fielderrors", "internal/cloud/openstack", "internal/cloud/openstack/auth",
				"apis/openstack/...", "apis/networking",
				machineTypes,
			}, gardenerLight()),
		},
		{
			packages: "internal/worker/aws",
			reason:   "a driver depends on its contract, but uses neither Manager nor Request nor Result, and no client; this one makes no requests to its cloud either",
			mayImport: slices.Concat([]string{
				"internal/worker", "internal/contract", "internal/cloud", "internal/fielderrors", "apis/aws/...", machineTypes,
			}, gardenerLight()),
			mayNotLink: []string{"internal/cloud/aws/...", "github.com/aws/...", "github.com/gophercloud/..."},
		},
		{
			packages: "internal/worker/example",
			reason:   "a driver depends on its contract and its cloud, but uses neither Manager nor Request nor Result, and no client",
			mayImport: []string{
				"internal/worker", "internal/contract", "internal/cloud", "internal/fielderrors", "internal/cloud/example", "apis/example/...",
				machineTypes, gardenerTypes,
			},
			mayNotLink: []string{"github.com/gophercloud/..."},
		},
		{
			packages:   "internal/worker/drivererror",
			reason:     "errors of machine drivers are read as texts",
			mayNotLink: []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:   "internal/worker/machinestatus",
			reason:     "the status of machines is a pure function of objects",
			mayImport:  slices.Concat([]string{"internal/contract", "internal/cloud", "internal/worker/drivererror", machineTypes}, gardenerLight()),
			mayNotLink: []string{"internal/worker", "internal/cloud/openstack/...", "github.com/gophercloud/..."},
		},
		{
			packages: "internal/worker",
			reason:   "a contract depends on the runtime and error kinds, but on no driver, other contract or SDK",
			mayImport: slices.Concat([]string{
				"internal/worker/machinestatus", "internal/contract", "internal/observer", "internal/pages", "internal/mutation", "internal/cloud", "internal/fielderrors",
				"sigs.k8s.io/controller-runtime/pkg/client/...", "sigs.k8s.io/controller-runtime/pkg/manager",
				"sigs.k8s.io/controller-runtime/pkg/webhook/admission", "k8s.io/client-go/util/retry", machineTypes, vpaTypes,
			}, gardenerLight()),
			mayNotLink: []string{"github.com/gophercloud/...", "apis/..."},
		},
	}
}

// machineRules lists what runs beside machine-controller-manager.
func machineRules() []importRule {
	return []importRule{
		{
			packages: "internal/machine/openstack/...",
			reason:   "a machine driver depends on machine-controller-manager's interface and its cloud, but on no contract and not on Gardener",
			mayImport: []string{
				"internal/machine", "internal/cloud", "internal/cloud/openstack", "internal/cloud/openstack/auth", "apis/openstack/machine/...",
				machineTypes, machineManager + "/pkg/util/provider/driver", machineManager + "/pkg/util/provider/machinecodes/...",
				"golang.org/x/sync/...", prometheus, "sigs.k8s.io/yaml",
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime"},
		},
		{
			packages: "internal/machine/aws/...",
			reason:   "a machine driver depends on machine-controller-manager's interface and its cloud, but on no contract and not on Gardener",
			mayImport: []string{
				"internal/machine", "internal/cloud", "internal/cloud/aws", "internal/cloud/aws/auth", "apis/aws/machine/...",
				machineTypes, machineManager + "/pkg/util/provider/driver", machineManager + "/pkg/util/provider/machinecodes/...",
				"golang.org/x/sync/...", "golang.org/x/time/rate", prometheus,
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/..."},
		},
		{
			packages: "internal/machine/example",
			reason:   "a machine driver depends on machine-controller-manager's interface and its cloud, but on no contract and not on Gardener",
			mayImport: []string{
				"internal/machine", "internal/cloud", "internal/cloud/example", "apis/example/...",
				machineTypes, machineManager + "/pkg/util/provider/driver", machineManager + "/pkg/util/provider/machinecodes/...",
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/..."},
		},
		{
			packages: "internal/machine",
			reason:   "the process beside machine-controller-manager is a program of that project, and depends on no driver or cloud",
			mayImport: []string{
				"internal/buildinfo", "internal/logging", "internal/metriclist", "internal/signals", "internal/cloud", "internal/truncate", machineManager + "/pkg/util/provider/...", "k8s.io/klog/v2",
				"k8s.io/client-go/...", "golang.org/x/sync/singleflight", "go.uber.org/zap/zapcore",
				"github.com/spf13/pflag", "github.com/prometheus/...",
			},
			mayNotLink: []string{gardener, "sigs.k8s.io/controller-runtime", "github.com/gophercloud/..."},
		},
	}
}

func cloudRules() []importRule {
	noKubernetes := []string{"k8s.io/...", "sigs.k8s.io/...", "github.com/gardener/...", ourPath + "/apis"}
	return []importRule{
		{
			packages:             "internal/cloud",
			reason:               "what all clouds share needs no SDK",
			withoutCommonImports: true,
			mayImport:            []string{prometheus},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/login",
			reason:               "keeping logins depends on no cloud and no protocol",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud"},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/record",
			reason:               "the record of a shoot's resources depends on no cloud",
			withoutCommonImports: true,
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/transport",
			reason:               "retries, rate limit, timeout and limits of responses are the same for all clouds and need no SDK",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud", "golang.org/x/time/rate"},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/example/fake",
			reason:               "the fake shares no code with the client, since its tests would not find errors in shared code",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/cloud/example",
			reason:               "a client depends on neither Kubernetes nor Gardener nor API types",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud", "internal/cloud/transport", "internal/truncate", prometheus},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/wire",
			reason:               "faults and call logs of connections depend neither on a client nor on a cloud",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/cloud/aws/auth",
			reason:               "credentials are checked without a call, so that programs that make none do not link the SDK",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud"},
			mayNotLink:           append([]string{"github.com/gophercloud/...", "github.com/aws/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/aws/conformance",
			reason:               "it checks what AWS and the fake do by the client alone",
			withoutCommonImports: true,
			mayImport:            slices.Concat([]string{"internal/cloud", "internal/cloud/aws", "internal/cloud/aws/auth"}, testLibraries()),
			mayNotLink:           noKubernetes,
		},
		{
			packages:             "internal/cloud/aws",
			reason:               "the only package that uses the SDK of AWS depends on neither Kubernetes nor Gardener nor API types",
			withoutCommonImports: true,
			mayImport: []string{
				"internal/cloud", "internal/cloud/login", "internal/cloud/aws/auth", "internal/cloud/transport", "github.com/aws/aws-sdk-go-v2/aws/...",
				"github.com/aws/aws-sdk-go-v2/service/...", "github.com/aws/smithy-go", prometheus,
			},
			// These bring other ways to log in, and more than a megabyte each.
			mayNotLink: append([]string{
				"github.com/gophercloud/...", "github.com/aws/aws-sdk-go-v2/config/...", "github.com/aws/aws-sdk-go-v2/service/sso/...",
			}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/aws/fake/model",
			reason:               "models are read from files, whatever they are used for",
			withoutCommonImports: true,
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/cloud/aws/fake/protocol",
			reason:               "requests and responses depend on models, but on no service",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud/aws/fake/model", "internal/cloud/wire"},
			mayNotLink:           []string{"k8s.io/...", "github.com/..."},
		},
		{
			packages:             "internal/cloud/aws/fake/...",
			reason:               "the fake shares no code with the client or the SDK, since its tests would not find errors in shared code",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud/aws/fake/...", "internal/cloud/wire", "golang.org/x/crypto/..."},
			mayNotLink:           []string{"k8s.io/...", "github.com/aws/...", "github.com/gophercloud/...", "github.com/gardener/..."},
		},
		{
			packages:             "internal/cloud/openstack/auth",
			reason:               "credentials are checked without a call, so that programs that make none do not link the SDK",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud"},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/openstack/services",
			reason:               "names, paths and errors of services depend neither on the client nor on the fake",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud/wire"},
			mayNotLink:           []string{"k8s.io/..."},
		},
		{
			packages:             "internal/cloud/openstack/proxy",
			reason:               "the proxy forwards what it does not understand, so it does not use the client",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud/openstack/services", "internal/cloud/wire"},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/openstack/fake/...",
			reason:               "the fake shares no code with the client, since its tests would not find errors in shared code",
			withoutCommonImports: true,
			mayImport:            []string{"internal/cloud/openstack/fake/...", "internal/cloud/openstack/services", "internal/cloud/wire", "golang.org/x/crypto/..."},
			mayNotLink:           append([]string{"github.com/gophercloud/..."}, noKubernetes...),
		},
		{
			packages:             "internal/cloud/openstack/conformance",
			reason:               "it tests the fake and the client against real clouds by raw HTTP; of the SDK it uses the reader of clouds.yaml",
			withoutCommonImports: true,
			mayImport: slices.Concat([]string{
				"internal/cloud/openstack", "internal/cloud/openstack/auth", "internal/cloud", "internal/cloud/transport", "github.com/gophercloud/gophercloud/v2",
				"github.com/gophercloud/gophercloud/v2/openstack/config/clouds", "golang.org/x/crypto/...",
			}, testLibraries()),
			mayNotLink: noKubernetes,
		},
		{
			packages:             "internal/cloud/openstack/...",
			reason:               "the only package that uses the SDK of OpenStack depends on neither Kubernetes nor Gardener nor API types",
			withoutCommonImports: true,
			mayImport: []string{
				"internal/cloud", "internal/cloud/login", "internal/cloud/openstack/auth", "internal/cloud/transport", "internal/truncate",
				"github.com/gophercloud/gophercloud/v2/...",
				"golang.org/x/sync/...", prometheus,
			},
			mayNotLink: noKubernetes,
		},
	}
}

func otherModuleRules() []importRule {
	return []importRule{
		{
			packages:   "apis/...",
			reason:     "other projects import the API types, so they depend on Gardener's types and nothing else",
			mayImport:  []string{"apis/...", gardenerTypes},
			mayNotLink: []string{gardener, ourPath, "sigs.k8s.io/controller-runtime", "k8s.io/client-go", "github.com/gophercloud/..."},
		},
		{
			packages: "charts/...",
			reason:   "charts and registrations are generated from files, Gardener's types and Helm, without the code that they install",
			mayImport: []string{
				"charts/...", gardenerTypes, "helm.sh/helm/v4/...", "k8s.io/client-go/...", "sigs.k8s.io/controller-runtime/...", "sigs.k8s.io/yaml", "sigs.k8s.io/json",
				"k8s.io/apiextensions-apiserver/pkg/apis/...", "github.com/Masterminds/semver/v3",
			},
			mayNotLink: []string{gardener, ourPath, "github.com/gophercloud/..."},
		},
		{
			packages:             "images/internal/signing",
			reason:               "signing depends on bytes and digests only",
			withoutCommonImports: true,
			mayImport:            []string{"github.com/secure-systems-lab/go-securesystemslib/encrypted"},
			mayNotLink:           []string{"github.com/google/go-containerregistry/..."},
		},
		{
			packages:             "images/internal/debian",
			reason:               "packages are read as files, whatever is made of them",
			withoutCommonImports: true,
			mayImport:            []string{"github.com/blakesmith/ar", "github.com/ulikunitz/xz"},
			mayNotLink:           []string{"github.com/google/go-containerregistry/...", "k8s.io/...", "github.com/gardener/..."},
		},
		{
			packages:             "images/...",
			reason:               "images are built of files, whatever the files are",
			withoutCommonImports: true,
			mayImport: []string{
				"images/...", "github.com/google/go-containerregistry/...", "github.com/CycloneDX/cyclonedx-go", "golang.org/x/...",
				"github.com/klauspost/compress/...", "github.com/google/licensecheck", "go.yaml.in/yaml/v3",
			},
			mayNotLink: []string{
				"k8s.io/...", "sigs.k8s.io/...", "github.com/gardener/...", ourPath, "github.com/gophercloud/...",
			},
		},
		{
			packages: "e2e/cmd/machine-controller-example",
			reason:   "it is composed as the released machine controllers are",
			mayImport: []string{
				"internal/machine", "internal/machine/example", "internal/cloud/example", "github.com/go-logr/logr", prometheus,
			},
		},
		{
			packages:  "e2e/internal/machinedriver/openstack",
			reason:    "it composes the driver as the released machine controller does",
			mayImport: []string{"internal/machine/openstack", "internal/cloud/openstack", machineManager + "/...", "github.com/go-logr/logr"},
		},
		{
			packages:  "e2e/internal/isolation",
			reason:    "it gives a program a network of its own, whatever the program does",
			mayImport: slices.Concat([]string{"github.com/vishvananda/netlink", "golang.org/x/sys/unix"}, testLibraries()),
		},
		{
			packages: "e2e/...",
			reason:   "e2e tests run binaries as processes, and may import fakes, suites and API types only",
			mayImport: slices.Concat([]string{
				"e2e/...", "apis/...", "charts/...", "images/...", "helm.sh/helm/v4/...", "internal/contract/contracttest", "internal/cloud/openstack/fake/...",
				"internal/cloud/example/fake", "internal/cloud/aws/fake/...",
				"internal/cloud/wire", "internal/cloud/openstack/services", "internal/cloud/openstack/proxy", "internal/cloud/openstack/conformance/...",
				gardener + "/...", machineManager + "/...", "sigs.k8s.io/...", "k8s.io/...", "golang.org/x/...", prometheus,
				"github.com/prometheus/...", "github.com/go-logr/...", "github.com/Masterminds/semver/v3", "mvdan.cc/sh/v3/...",
				"github.com/google/go-containerregistry/pkg/registry",
			}, testLibraries()),
		},
		{
			packages:             "internal/architecture",
			reason:               "it reads all code and changes none",
			withoutCommonImports: true,
		},
	}
}

const (
	gardenerTypes = gardener + "/pkg/apis/..."
	prometheus    = "github.com/prometheus/client_golang/prometheus"
	// machine-controller-manager, and its API.
	machineManager = "github.com/gardener/machine-controller-manager"
	machineTypes   = machineManager + "/pkg/apis/machine/v1alpha1"
	// Types of objects that controllers write besides Gardener's own.
	vpaTypes        = "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/..."
	monitoringTypes = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/..."
)

// gardenerLight lists what of Gardener a contract may use: types, and the packages that bring little with them.
func gardenerLight() []string {
	return []string{
		gardenerTypes,
		gardener + "/pkg/api/core/v1beta1/helper",
		gardener + "/pkg/api/extensions/v1alpha1/helper",
		gardener + "/pkg/controllerutils",
		gardener + "/pkg/controllerutils/predicate",
		gardener + "/pkg/controllerutils/reconciler",
		gardener + "/pkg/utils/flow",
		gardener + "/pkg/utils/imagevector",
		gardener + "/pkg/utils/managedresources/builder",
		gardener + "/pkg/utils/secrets/...",
		gardener + "/pkg/utils/kubernetes/...",
		gardener + "/pkg/utils/validation/cidr",
		gardener + "/pkg/resourcemanager/controller/garbagecollector/references",
	}
}

func testLibraries() []string {
	return []string{"github.com/stretchr/testify/...", "github.com/google/go-cmp/..."}
}

// planPackages are those of the ControlPlane contract with which drivers describe what they plan.
func planPackages() []string {
	return []string{
		"internal/controlplane", "internal/controlplane/component", "internal/controlplane/csi", "internal/controlplane/tuning", "internal/controlplane/gcfg",
		"internal/controlplane/rbac", "internal/controlplane/featuregates", "internal/controlplane/calico", "apis/networking",
	}
}
