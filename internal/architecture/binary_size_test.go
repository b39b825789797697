package architecture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sizeLimit is what a binary may weigh. Four controllers replace one monolith: each of them has to be light, or the split
// costs a landscape memory instead of saving it.
type sizeLimit struct {
	packages, modules int
	megabytes         int64 // of the stripped binary, in 10^6 bytes
	forbidden         []string
	templates         bool // whether it may execute templates
	// unlinked is the name of a function of an SDK for an operation that nobody calls. The linker keeps it if a client becomes an interface value in a
	// program that calls methods by name, and with it some 25 MB.
	unlinked string
}

func controllerLimit() sizeLimit {
	return sizeLimit{
		packages:  950,
		modules:   90,
		megabytes: 45,
		forbidden: append(heavyGardener(),
			"helm.sh/...", "github.com/aws/...", "github.com/Azure/...", "go.etcd.io/...", "k8s.io/kubernetes/...",
			"k8s.io/apiserver/...", "github.com/stretchr/...", "sigs.k8s.io/controller-runtime/pkg/envtest/...",
			"sigs.k8s.io/controller-runtime/pkg/client/fake", ourPath+"/internal/cloud/openstack/fake/...",
			ourPath+"/internal/contract/contracttest", ourPath+"/internal/infrastructure/infrastructuretest",
			ourPath+"/internal/controlplane/controlplanetest", ourPath+"/internal/network/networktest",
			ourPath+"/internal/worker/workertest"),
	}
}

// twoCloudsLimit is for a controller with the SDKs of OpenStack and AWS.
func twoCloudsLimit() sizeLimit {
	limit := controllerLimit()
	limit.packages, limit.megabytes = 1000, 46
	return withAWS(limit)
}

// withAWS permits AWS' SDK with the operations in use.
func withAWS(limit sizeLimit, forbidden ...string) sizeLimit {
	limit.forbidden = slices.DeleteFunc(limit.forbidden, func(pattern string) bool { return pattern == "github.com/aws/..." })
	limit.forbidden = append(append(limit.forbidden, "github.com/aws/aws-sdk-go-v2/config/...", ourPath+"/internal/cloud/aws/fake/..."), forbidden...)
	limit.unlinked = "awsEc2query_serializeOpDocumentAcceptAddressTransferInput"
	return limit
}

// withoutSDK forbids the SDKs of all clouds, for binaries that make no calls to clouds.
func withoutSDK(limit sizeLimit) sizeLimit {
	limit.forbidden = append(limit.forbidden, "github.com/gophercloud/...")
	return limit
}

// machineLimit is for what runs once per shoot, not once per seed. machine-controller-manager's own program is in it, with typed clients
// for everything.
func machineLimit() sizeLimit {
	machine := controllerLimit()
	machine.packages, machine.modules, machine.megabytes = 1000, 100, 40
	// Its feature gates are made with a package of the API server's.
	machine.forbidden = slices.DeleteFunc(machine.forbidden, func(pattern string) bool { return pattern == "k8s.io/apiserver/..." })
	machine.forbidden = append(machine.forbidden, "k8s.io/apiserver/pkg/server/...", "k8s.io/apiserver/pkg/endpoints/...",
		gardener+"/...", "sigs.k8s.io/controller-runtime/...", ourPath+"/internal/contract/...", ourPath+"/internal/worker/...")
	return machine
}

// awsMachineLimit is for the machine controller with AWS' SDK.
func awsMachineLimit() sizeLimit {
	return withAWS(machineLimit(), "github.com/gophercloud/...")
}

// inspectLimit is for a command that an admin downloads. It reads with a dynamic client: a client with a scheme is several times as large.
func inspectLimit() sizeLimit {
	inspect := withoutSDK(controllerLimit())
	inspect.packages, inspect.modules, inspect.megabytes = 400, 40, 22
	inspect.forbidden = append(inspect.forbidden, "sigs.k8s.io/controller-runtime/...", ourPath+"/internal/contract/...",
		ourPath+"/internal/manager/...", "k8s.io/client-go/kubernetes/...")
	return inspect
}

// agentLimit is for what runs on each node of each shoot.
func agentLimit() sizeLimit {
	agent := withoutSDK(controllerLimit())
	agent.packages, agent.modules, agent.megabytes = 440, 48, 21
	agent.forbidden = append(agent.forbidden, "sigs.k8s.io/controller-runtime/...", gardener+"/...", "k8s.io/client-go/kubernetes/...",
		"k8s.io/client-go/informers/...", "k8s.io/client-go/applyconfigurations/...", ourPath+"/internal/network/...", ourPath+"/internal/contract/...",
		ourPath+"/internal/manager/...")
	return agent
}

// routerLimit is for what runs on each node of shoots without kube-proxy. Kubernetes' proxier is in it, with its typed clients and informers.
func routerLimit() sizeLimit {
	router := withoutSDK(controllerLimit())
	router.packages, router.modules, router.megabytes = 830, 78, 33
	router.forbidden = slices.DeleteFunc(router.forbidden, func(pattern string) bool {
		return pattern == "k8s.io/kubernetes/..." || pattern == "k8s.io/apiserver/..."
	})
	router.forbidden = append(router.forbidden, "sigs.k8s.io/controller-runtime/...", gardener+"/...", ourPath+"/internal/network/...", ourPath+"/internal/contract/...",
		ourPath+"/internal/manager/...", ourPath+"/internal/gardenet/agent/...", "k8s.io/kubernetes/cmd/...", "k8s.io/kubernetes/pkg/proxy/iptables/...",
		"k8s.io/kubernetes/pkg/proxy/ipvs/...", "k8s.io/apiserver/pkg/server/...", "k8s.io/apiserver/pkg/endpoints/...")
	return router
}

// heavyGardener lists the packages of Gardener that bring half of Gardener with them.
func heavyGardener() []string {
	return []string{
		gardener + "/extensions/...",
		gardener + "/pkg/extensions/...",
		gardener + "/pkg/component/...",
		gardener + "/pkg/utils/gardener/...",
		gardener + "/pkg/utils/managedresources", // its builder is light
		gardener + "/pkg/utils/chart/...",
		gardener + "/pkg/chartrenderer/...",
	}
}

// binaries lists the folders in cmd with what each may weigh.
func binaries() map[string]sizeLimit {
	return map[string]sizeLimit{
		"infrastructure-controller":         twoCloudsLimit(),
		"controlplane-controller":           withoutSDK(controllerLimit()),
		"network-controller":                withoutSDK(controllerLimit()),
		"worker-controller":                 controllerLimit(),
		"machine-controller-aws":            awsMachineLimit(),
		"machine-controller-openstack":      machineLimit(),
		"admission":                         withoutSDK(controllerLimit()),
		"controllerinstallation-controller": withoutSDK(installationLimit()),
		"gardenet-agent":                    agentLimit(),
		"gardenet-service-router":           routerLimit(),
		"trellis-inspect":                   inspectLimit(),
	}
}

func TestBinaries_Complete(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join(root, "cmd"))
	require.NoError(t, err)
	for _, folder := range folders {
		assert.Contains(t, binaries(), folder.Name())
	}
}

func TestBinarySize(t *testing.T) {
	for name, limit := range binaries() {
		t.Run(name, func(t *testing.T) {
			path := ourPath + "/cmd/" + name
			packages := loadGraph(t, "cmd/"+name, ".") // it may have a module of its own
			modules := packages.linkedModules(path)
			binary := buildStripped(t, name)
			size := int64(len(binary))
			t.Logf("%d packages, %d modules, %.1f MB", len(packages), len(modules), float64(size)/1e6)

			for _, forbidden := range limit.forbiddenPackages(packages) {
				t.Error(forbidden)
			}
			assert.LessOrEqual(t, len(packages), limit.packages, "packages linked")
			assert.LessOrEqual(t, len(modules), limit.modules, "modules linked: %q", modules)
			assert.LessOrEqual(t, size, limit.megabytes*1_000_000, "bytes of the stripped binary")
			if limit.unlinked != "" {
				assert.False(t, bytes.Contains(binary, []byte(limit.unlinked)), "operations that nobody calls are linked")
			}
			if !limit.templates {
				assert.False(t, bytes.Contains(binary, []byte(executesTemplates)), "it executes templates: see executesTemplates")
			}
		})
	}
}

// forbiddenPackages returns a sentence for every forbidden package, with one that brought it in.
func (d sizeLimit) forbiddenPackages(packages graph) []string {
	var found []string
	for path := range packages {
		if matchesAny(d.forbidden, path) {
			found = append(found, fmt.Sprintf("%s is too heavy; %s imports it", path, packages.importerOf(path)))
		}
	}
	return found
}

func (g graph) importerOf(path string) string {
	for _, candidate := range g {
		if slices.Contains(candidate.Imports, path) {
			return candidate.ImportPath
		}
	}
	return "nobody"
}

// executesTemplates is in binaries that execute a template. Templates call methods by name, so the linker keeps all exported methods of each type that
// becomes an interface value: 12 MB of a controller, and 27 MB more with a client of EC2.
const executesTemplates = "text/template.(*state).evalField"

// buildStripped builds without -trimpath, unlike a release, to use the packages that other tests have compiled. That makes a binary a little larger.
func buildStripped(t *testing.T, name string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	goTool(t, "cmd/"+name, "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, ".")
	binary, err := os.ReadFile(out)
	require.NoError(t, err)
	return binary
}

func TestForbiddenPackages(t *testing.T) {
	heavy := exampleGraph(ourPath+"/cmd/x", gardener+"/extensions/pkg/controller", gardener)
	assert.Equal(t,
		[]string{gardener + "/extensions/pkg/controller is too heavy; " + ourPath + "/cmd/x imports it"},
		controllerLimit().forbiddenPackages(heavy))
	light := exampleGraph(ourPath+"/cmd/x", gardener+"/pkg/utils/managedresources/builder", gardener)
	assert.Empty(t, controllerLimit().forbiddenPackages(light))
}
