package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typeLists are the files that name provider types although they belong to no driver: each has a list to which a new type is added.
func typeLists() []string {
	return []string{
		"charts/admission/application/templates/_facts.tpl",   // the types of clouds
		"charts/cmd/registrations/generate.go",                // examples
		"charts/cmd/rights/page.go",                           // the types of admission
		"charts/common/templates/_logging.tpl",                // log formats
		"charts/common/templates/_values.tpl",                 // names of values
		"charts/network-controller/templates/_values.tpl",     // the same
		"charts/registration/values.go",                       // images of what drivers deploy
		"charts/controlplane-controller/templates/_facts.tpl", // logs of what drivers deploy
		"charts/network-controller/templates/_facts.tpl",      // the same
		"charts/network-controller/templates/rbac.yaml",       // names of ConfigMaps that drivers write
		"cmd/admission/defaults.go",
		"cmd/admission/webhooks.go",
		"cmd/controlplane-controller/main.go",
		"cmd/infrastructure-controller/cloud_flags.go",
		"cmd/infrastructure-controller/main.go",
		"cmd/infrastructure-controller/secondary.go",
		"cmd/network-controller/main.go",
		"cmd/trellis-inspect/main.go",
		"cmd/worker-controller/main.go",
		"cmd/worker-controller/webhooks.go",
		"e2e/internal/assets/assets.go", // programs
		"e2e/internal/assets/stamp.go",  // the same
		"e2e/internal/controller/admission.go",
		"e2e/internal/controller/controlplane.go",
		"e2e/internal/controller/infrastructure.go",
		"e2e/internal/controller/machine.go",
		"e2e/internal/controller/network.go",
		"e2e/internal/controller/worker.go",
		"e2e/internal/garden/objects.go",             // the CloudProfile of a garden
		"e2e/internal/garden/shoot.go",               // the default types of its Shoots
		"e2e/internal/gardenlet/shoot.go",            // the default network type of a shoot
		"e2e/internal/nodeimage/network.go",          // the network of kind's nodes
		"internal/contract/contracttest/fixtures.go", // the network type of a suite's shoot
		"internal/network/networktest/subject.go",    // the infrastructure of a suite's shoot
	}
}

// providerType finds names of provider types in identifiers and texts.
func providerType() *regexp.Regexp {
	return regexp.MustCompile(`(?i)openstack|calico|\baws|azure|gardenet`)
}

// isOfDriver reports whether a file belongs to a driver, its cloud or its API types, by the folder of its type.
func isOfDriver(name string) bool {
	folders := strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
	return slices.ContainsFunc(folders, func(folder string) bool { return providerType().MatchString(folder) })
}

// isForAllTypes reports whether a file is for all types: code, charts, and the packages of e2e on which the suites of all providers run.
func isForAllTypes(name string) bool {
	if folder, isHarness := strings.CutPrefix(name, "e2e/internal/"); isHarness {
		// Parts of OpenStack's suites, and the example, which extends lists.
		return !slices.Contains([]string{"example", "infrastructuresuite", "kindseed", "lifecycle", "stack", "testenv", "upstream"}, strings.Split(folder, "/")[0])
	}
	return slices.Contains([]string{"cmd", "internal", "charts", "images"}, strings.Split(name, "/")[0])
}

// typeUses collects the files outside of drivers that name provider types.
type typeUses struct {
	t     *testing.T
	lists map[string]bool // whether a list names a type
}

func (u *typeUses) check(name, place, text string) {
	if !providerType().MatchString(text) {
		return
	}
	if _, allowed := u.lists[name]; !allowed {
		u.t.Errorf("%s: %s names a provider type outside of the drivers: move it there, or make the file a list", place, text)
	}
	u.lists[name] = true
}

func (u *typeUses) checkSource(s source) {
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			u.check(s.name, s.place(node), node.Name)
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				u.check(s.name, s.place(node), node.Value)
			}
		}
		return true
	})
}

func (u *typeUses) checkTemplates(pattern ...string) {
	paths, err := filepath.Glob(filepath.Join(append([]string{root, "charts"}, pattern...)...))
	require.NoError(u.t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(u.t, err)
		name, err := filepath.Rel(root, path)
		require.NoError(u.t, err)
		for line := range strings.Lines(string(content)) {
			if text := strings.TrimSpace(line); !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "{{/*") {
				u.check(name, name, text)
			}
		}
	}
}

// A new type is a package per contract and an entry in each of the lists: other code that depends on a type would have to be found.
func TestProviderTypes_NamedInDriversAndListsOnly(t *testing.T) {
	uses := typeUses{t: t, lists: map[string]bool{}}
	for _, name := range typeLists() {
		uses.lists[name] = false
	}
	for _, s := range readSources(t) {
		if !s.isTest() && !isOfDriver(s.name) && isForAllTypes(s.name) {
			uses.checkSource(s)
		}
	}
	uses.checkTemplates("*", "templates", "*")
	uses.checkTemplates("*", "*", "templates", "*")
	for name, used := range uses.lists {
		assert.True(t, used, "%s names no type any more", name)
	}
}
