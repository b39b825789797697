package architecture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImports(t *testing.T) {
	for _, module := range []string{".", "apis", "charts", "images", "cmd/gardenet-service-router", "e2e"} {
		t.Run("module "+module, func(t *testing.T) {
			packages := loadGraph(t, module, "./...")
			require.NotEmpty(t, packages.ours())
			for _, violation := range violations(packages, importRules()) {
				t.Error(violation)
			}
		})
	}
}

// violations returns a sentence for everything that breaks the law.
func violations(packages graph, rules []importRule) []string {
	var found []string
	for _, path := range packages.ours() {
		rule := ruleFor(rules, path)
		if rule == nil {
			found = append(found, fmt.Sprintf("%s has no import rule: add one to import_rules_test.go", path))
			continue
		}
		for _, imported := range packages[path].Imports {
			if !packages[imported].Standard && imported != "C" && !rule.allows(imported) {
				found = append(found, fmt.Sprintf("%s imports %s, but %s", path, imported, rule.reason))
			}
		}
		for _, module := range packages.linkedModules(path) {
			if matchesAny(ourPaths(rule.mayNotLink), module) && module != packages[path].module() {
				found = append(found, fmt.Sprintf("%s is linked with module %s, but %s", path, module, rule.reason))
			}
		}
	}
	return found
}

func ruleFor(rules []importRule, path string) *importRule {
	i := slices.IndexFunc(rules, func(r importRule) bool { return matchesAny(ourPaths([]string{r.packages}), path) })
	if i < 0 {
		return nil
	}
	return &rules[i]
}

func (r importRule) allows(imported string) bool {
	if matchesAny(ourPaths(r.mayImport), imported) {
		return true
	}
	return !r.withoutCommonImports && matchesAny(ourPaths(commonImports()), imported)
}

// ourPaths completes patterns that are relative to our module: those whose first element is no host name.
func ourPaths(patterns []string) []string {
	full := make([]string, 0, len(patterns))
	for _, pattern := range patterns {
		if first, _, _ := strings.Cut(pattern, "/"); !strings.Contains(first, ".") {
			pattern = ourPath + "/" + pattern
		}
		full = append(full, pattern)
	}
	return full
}

// exampleGraph returns a graph with one package of ours that imports another package.
func exampleGraph(path, imported, module string) graph {
	in := func(path string) *moduleOf { return &moduleOf{Path: path} }
	return graph{
		path:     {ImportPath: path, Imports: []string{imported, "fmt"}, Deps: []string{imported, "fmt"}, Module: in(ourPath)},
		imported: {ImportPath: imported, Module: in(module)},
		"fmt":    {ImportPath: "fmt", Standard: true},
	}
}

func TestViolations(t *testing.T) {
	const gophercloud = "github.com/gophercloud/gophercloud/v2"
	tests := map[string]struct {
		path, imported, module string
		want                   int
	}{
		"a process that knows a contract":         {"internal/manager", ourPath + "/internal/contract", ourPath, 1},
		"a process that knows Gardener":           {"internal/manager", gardener + "/pkg/apis/core/v1beta1", gardener + "/pkg/apis", 2},
		"a runtime that knows a contract":         {"internal/contract", ourPath + "/internal/infrastructure", ourPath, 1},
		"a runtime that knows an SDK":             {"internal/contract", gophercloud, gophercloud, 2},
		"a contract that knows its driver":        {"internal/infrastructure", ourPath + "/internal/infrastructure/openstack", ourPath, 1},
		"a driver that sees a Manager":            {"internal/infrastructure/openstack", "sigs.k8s.io/controller-runtime/pkg/manager", "sigs.k8s.io/controller-runtime", 1},
		"a driver that speaks to the SDK":         {"internal/infrastructure/openstack", gophercloud, gophercloud, 1},
		"a cloud that knows Kubernetes":           {"internal/cloud/openstack", "k8s.io/api/core/v1", "k8s.io/api", 2},
		"a cloud that knows our API types":        {"internal/cloud/openstack", ourPath + "/apis/openstack/v1alpha1", ourPath + "/apis", 2},
		"a fake that shares code with the client": {"internal/cloud/openstack/fake", ourPath + "/internal/cloud/openstack", ourPath, 1},
		"a client that knows its call log":        {"internal/cloud/openstack", ourPath + "/internal/cloud/wire", ourPath, 1},
		"a proxy that knows the fake":             {"internal/cloud/openstack/proxy", ourPath + "/internal/cloud/openstack/fake", ourPath, 1},
		"apis that bring all of Gardener":         {"apis/openstack/v1alpha1", gardener + "/pkg/utils/flow", gardener, 2},
		"a test from outside that looks inside":   {"e2e", ourPath + "/internal/contract", ourPath, 1},
		"a chart that knows its controller":       {"charts/registration", ourPath + "/internal/manager", ourPath, 1},
		"an image that knows Kubernetes":          {"images", "k8s.io/api/core/v1", "k8s.io/api", 2},
		"a package without a rule":                {"internal/util", "fmt", "", 1},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			found := violations(exampleGraph(ourPath+"/"+test.path, test.imported, test.module), importRules())
			about := slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, ourPath+"/"+test.path+" ") })
			assert.Len(t, about, test.want, "%q", found)
		})
	}
}

func TestImportRule_Allows(t *testing.T) {
	tests := map[string]struct{ path, imported string }{
		"the runtime to use light packages":       {"internal/contract", gardener + "/pkg/utils/flow"},
		"a contract to use the runtime":           {"internal/infrastructure", ourPath + "/internal/contract"},
		"a driver to use its own API types":       {"internal/infrastructure/openstack", ourPath + "/apis/openstack/v1alpha1"},
		"a cloud to use its SDK":                  {"internal/cloud/openstack", "github.com/gophercloud/gophercloud/v2"},
		"everybody to log":                        {"internal/infrastructure/openstack", "github.com/go-logr/logr"},
		"a test from outside to use all Gardener": {"e2e", gardener + "/pkg/component/extensions/infrastructure"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			rule := ruleFor(importRules(), ourPath+"/"+test.path)
			require.NotNil(t, rule)
			assert.True(t, rule.allows(test.imported))
		})
	}
}
