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

// permissionsPage is the page with the policy for the users of shoots.
const permissionsPage = "../../../docs/operations/aws.md"

// impliedPermissions are those that AWS asks for besides the one that has the name of the request: for tags, for a role that is given to instances, and for
// the interfaces of mount targets.
func impliedPermissions() map[string][]string {
	return map[string][]string{
		"iam:AddRoleToInstanceProfile": {"iam:PassRole"},
		"iam:CreateInstanceProfile":    {"iam:TagInstanceProfile"},
		"iam:CreateRole":               {"iam:TagRole"},

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

// TestPermissions_Page compares the policy in the documentation with the requests that the Infrastructure driver can make.
func TestPermissions_Page(t *testing.T) {
	want := slices.Sorted(maps.Keys(permissionsOfDriver(t)))
	require.Greater(t, len(want), 50)
	content, err := os.ReadFile(permissionsPage)
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```json\n(\\{.*?\n\\})\n```").FindSubmatch(content)
	require.NotNil(t, block, "%s has no policy", permissionsPage)
	var policy struct {
		Version   string
		Statement []struct {
			Effect           string
			Action, Resource []string
		}
	}
	require.NoError(t, json.Unmarshal(block[1], &policy))
	assert.Equal(t, "2012-10-17", policy.Version)
	var has []string
	for _, statement := range policy.Statement {
		assert.Equal(t, "Allow", statement.Effect)
		has = append(has, statement.Action...)
	}
	slices.Sort(has)
	assert.Equal(t, want, has, "the policy in %s has to allow what the driver requests, and nothing else", permissionsPage)
}

// permissionsOfDriver returns the permissions for all requests of the client, except for those of methods that the driver does not use.
func permissionsOfDriver(t *testing.T) map[string]bool {
	t.Helper()
	models, err := model.Load()
	require.NoError(t, err)
	used := selectedNames(t, "../../infrastructure/aws")
	all := map[string]bool{}
	for _, file := range parseSources(t, ".") {
		for _, declaration := range file.Decls {
			function, is := declaration.(*ast.FuncDecl)
			if !is || function.Recv != nil && function.Name.IsExported() && !used[function.Name.Name] {
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				if call, is := node.(*ast.CallExpr); is {
					addPermissions(t, all, models, call)
				}
				return true
			})
		}
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
