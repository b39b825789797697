package aws_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
)

// permissionsPage is the page with the policies for the users of shoots.
const permissionsPage = "../../../docs/operations/aws.md"

// impliedPermissions are those that AWS asks for besides the one that has the name of the request: for tags, for a role that is given to instances, and for the
// interfaces of mount targets.
func impliedPermissions() map[string][]string {
	return map[string][]string{
		"iam:AddRoleToInstanceProfile": {"iam:PassRole"},
		"iam:CreateInstanceProfile":    {"iam:TagInstanceProfile"},
		"iam:CreateRole":               {"iam:TagRole"},
		"ec2:RunInstances":             {"ec2:CreateTags", "iam:PassRole"},

		"elasticfilesystem:CreateMountTarget":               {"ec2:CreateNetworkInterface"},
		"elasticfilesystem:DeleteMountTarget":               {"ec2:DeleteNetworkInterface"},
		"elasticfilesystem:ModifyMountTargetSecurityGroups": {"ec2:ModifyNetworkInterfaceAttribute"},
	}
}

// permissionPrefixes are the prefixes of permissions by the names of the services' models. Nobody needs a permission to assume a role: it says itself whom
// it trusts.
func permissionPrefixes() map[string]string {
	return map[string]string{
		"ec2": "ec2", "iam": "iam", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing", "efs": "elasticfilesystem", "sts": "",
	}
}

// TestPermissions_Page compares the policies in the documentation with the requests that the drivers of Infrastructures and of machines can make.
func TestPermissions_Page(t *testing.T) {
	content, err := os.ReadFile(permissionsPage)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)\n### (\\S+)\n[^#]*?```json\n(\\{.*?\n\\})\n```").FindAllSubmatch(content, -1)
	policies := map[string][]string{}
	for _, block := range blocks {
		policies[string(block[1])] = allowedBy(t, block[2])
	}
	require.Len(t, policies, 2, "%s has a policy below the name of each binary that makes requests", permissionsPage)
	for binary, driver := range map[string]struct {
		folder  string
		atLeast int
	}{
		"infrastructure-controller": {"../../infrastructure/aws", 50},
		"machine-controller-aws":    {"../../machine/aws", 7},
	} {
		want := slices.Sorted(maps.Keys(permissionsOfDriver(t, driver.folder)))
		assert.Greater(t, len(want), driver.atLeast, binary)
		assert.Equal(t, want, policies[binary], "the policy for %s in %s has to allow what the driver requests, and nothing else", binary, permissionsPage)
	}
}

// allowedBy returns the permissions that a policy gives, sorted.
func allowedBy(t *testing.T, document []byte) []string {
	t.Helper()
	var policy struct {
		Version   string
		Statement []struct {
			Effect           string
			Action, Resource []string
		}
	}
	require.NoError(t, json.Unmarshal(document, &policy))
	assert.Equal(t, "2012-10-17", policy.Version)
	var allowed []string
	for _, statement := range policy.Statement {
		assert.Equal(t, "Allow", statement.Effect)
		assert.NotEmpty(t, statement.Resource)
		allowed = append(allowed, statement.Action...)
	}
	slices.Sort(allowed)
	return allowed
}

// permissionsOfDriver returns the permissions for the requests of all functions of the client that the driver uses, directly or by other functions.
func permissionsOfDriver(t *testing.T, folder string) map[string]bool {
	t.Helper()
	models, err := model.Load()
	require.NoError(t, err)
	declared := map[string][]*ast.FuncDecl{}
	for _, file := range parseSources(t, ".") {
		for _, declaration := range file.Decls {
			if function, is := declaration.(*ast.FuncDecl); is {
				declared[function.Name.Name] = append(declared[function.Name.Name], function)
			}
		}
	}
	all, seen := map[string]bool{}, map[string]bool{}
	for used := selectedNames(t, folder); len(used) > 0; {
		next := map[string]bool{}
		for name := range used {
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, function := range declared[name] {
				ast.Inspect(function, func(node ast.Node) bool {
					switch node := node.(type) {
					case *ast.CallExpr:
						addPermissions(t, all, models, node)
					case *ast.Ident:
						next[node.Name] = true
					}
					return true
				})
			}
		}
		used = next
	}
	return all
}

// addPermissions adds those for an operation that is named by an argument of a call, such as ec2Read("DescribeVpcs").
func addPermissions(t *testing.T, all map[string]bool, models map[string]*model.Service, call *ast.CallExpr) {
	t.Helper()
	for _, argument := range call.Args {
		literal, is := argument.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			continue
		}
		name, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		service := serviceOf(models, call, name)
		prefix, known := permissionPrefixes()[service]
		if service == "" || known && prefix == "" {
			continue
		}
		require.Truef(t, known, "service %s of request %s has no prefix of permissions: add it here", service, name)
		permission := prefix + ":" + name
		all[permission] = true
		for _, implied := range impliedPermissions()[permission] {
			all[implied] = true
		}
	}
}

// serviceOf returns the service with an operation, or nothing for a text that names none. Several services have a DescribeTags: functions that describe
// operations of SDKs begin with the name of the service, and those for query services are methods.
func serviceOf(models map[string]*model.Service, call *ast.CallExpr, operation string) string {
	function, _ := call.Fun.(*ast.Ident)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if _, has := models[name].Operations[operation]; !has {
			continue
		}
		isQuery := slices.Contains([]string{"elb", "elbv2", "sts"}, name)
		if isQuery && function == nil || !isQuery && function != nil && strings.HasPrefix(function.Name, name) {
			return name
		}
	}
	return ""
}

// selectedNames returns the names of all methods and fields that the sources of a package select.
func selectedNames(t *testing.T, folder string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, file := range parseSources(t, folder) {
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, is := node.(*ast.SelectorExpr); is {
				names[selector.Sel.Name] = true
			}
			return true
		})
	}
	return names
}

// parseSources parses the sources of a package without its tests.
func parseSources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files)
	return files
}
