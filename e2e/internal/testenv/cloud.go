package testenv

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// Body is the body of a request to the cloud.
type Body = conformance.Body

// Inventory names all resources of the Env's account, each by its kind, ID and changeable fields.
func (env *Env) Inventory() []string {
	env.T.Helper()
	names, err := env.Account.ResourceNames(env.T.Context())
	require.NoError(env.T, err)
	return names
}

// CountByKind counts the resources of the Env's account.
func (env *Env) CountByKind() map[string]int {
	env.T.Helper()
	kinds, err := env.Account.CountByKind(env.T.Context())
	require.NoError(env.T, err)
	return kinds
}

// OpenStack returns the cloud of a test whose provider is OpenStack, and Project its account there. Their other methods need them.
func (env *Env) OpenStack() *openstack.Cloud {
	env.T.Helper()
	return env.Project().Cloud
}

// Project is described with OpenStack.
func (env *Env) Project() *openstack.Account {
	env.T.Helper()
	account, is := env.Account.(*openstack.Account)
	require.Truef(env.T, is, "%s is no OpenStack", env.Cloud.Name())
	return account
}

// Resources lists all resources of the Env's project.
func (env *Env) Resources() []openstack.Resource {
	env.T.Helper()
	resources, err := env.Project().Resources(env.T.Context())
	require.NoError(env.T, err)
	return resources
}

// Find returns the only resource of a kind in the Env's project.
func (env *Env) Find(kind string) openstack.Resource {
	env.T.Helper()
	found := slices.DeleteFunc(env.Resources(), func(r openstack.Resource) bool { return r.Kind != kind })
	require.Lenf(env.T, found, 1, "things of the kind %q", kind)
	return found[0]
}

// Make creates a resource as the account's member, bypassing the controller, and returns its ID. The body's only key is its kind.
func (env *Env) Make(service conformance.Service, path string, body Body) string {
	env.T.Helper()
	response := env.Do(http.MethodPost, service, path, body)
	require.Lenf(env.T, body, 1, "POST %s", path)
	for kind := range body {
		if id := response.Text(kind + ".id"); id != "" {
			return id
		}
		if name := response.Text(kind + ".name"); name != "" {
			return name
		}
	}
	require.FailNow(env.T, "the answer names nothing", "POST %s: %v", path, response)
	return ""
}

// Do makes a request as the account's member, bypassing the controller. An error ends the test.
func (env *Env) Do(method string, service conformance.Service, path string, body any) conformance.Object {
	env.T.Helper()
	response, err := env.Project().DoAsMember(env.T.Context(), method, service, path, body)
	require.NoError(env.T, err)
	return response
}

// DoAsOperator is Do as an operator of the cloud.
func (env *Env) DoAsOperator(method string, service conformance.Service, path string, body any) conformance.Object {
	env.T.Helper()
	response, err := env.Project().DoAsOperator(env.T.Context(), method, service, path, body)
	require.NoError(env.T, err)
	return response
}

// ExternalNetwork returns the ID of the external network of the shoots' routers.
func (env *Env) ExternalNetwork() string {
	env.T.Helper()
	response := env.Do(http.MethodGet, conformance.Network, "/v2.0/networks?name="+strings.ReplaceAll(env.OpenStack().ExternalNetwork(), " ", "%20"), nil)
	networks := response.Objects("networks")
	require.Len(env.T, networks, 1)
	return networks[0].ID()
}
