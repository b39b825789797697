package rig

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// Body is what a request to the cloud carries.
type Body = conformance.Body

// There lists all that the world's account has.
func (w *World) There() []openstack.Resource {
	w.T.Helper()
	resources, err := w.Account.Resources(w.T.Context())
	require.NoError(w.T, err)
	return resources
}

// Inventory names all that the world's account has, each by its kind, its ID and what may be changed about it.
func (w *World) Inventory() []string {
	w.T.Helper()
	names := []string{}
	for _, resource := range w.There() {
		names = append(names, fmt.Sprintf("%s %s %s", resource.Kind, resource.ID, resource.Name))
	}
	slices.Sort(names)
	return names
}

// Kinds counts what the world's account has.
func (w *World) Kinds() map[string]int {
	w.T.Helper()
	kinds := map[string]int{}
	for _, resource := range w.There() {
		kinds[resource.Kind]++
	}
	return kinds
}

// Find returns the only resource of a kind in the world's account.
func (w *World) Find(kind string) openstack.Resource {
	w.T.Helper()
	found := slices.DeleteFunc(w.There(), func(r openstack.Resource) bool { return r.Kind != kind })
	require.Lenf(w.T, found, 1, "things of the kind %q", kind)
	return found[0]
}

// Make makes something as the account's member, behind the controller's back, and returns its ID. The body's only key is
// its kind.
func (w *World) Make(service conformance.Service, path string, body Body) string {
	w.T.Helper()
	answer := w.Do(http.MethodPost, service, path, body)
	require.Lenf(w.T, body, 1, "POST %s", path)
	for kind := range body {
		if id := answer.Text(kind + ".id"); id != "" {
			return id
		}
		if name := answer.Text(kind + ".name"); name != "" {
			return name
		}
	}
	require.FailNow(w.T, "the answer names nothing", "POST %s: %v", path, answer)
	return ""
}

// Do makes a request as the account's member, behind the controller's back. An answer that says no ends the test.
func (w *World) Do(method string, service conformance.Service, path string, body any) conformance.Object {
	w.T.Helper()
	answer, err := w.Account.AsMember(w.T.Context(), method, service, path, body)
	require.NoError(w.T, err)
	return answer
}

// Operate is Do for an operator of the cloud.
func (w *World) Operate(method string, service conformance.Service, path string, body any) conformance.Object {
	w.T.Helper()
	answer, err := w.Account.AsOperator(w.T.Context(), method, service, path, body)
	require.NoError(w.T, err)
	return answer
}

// ExternalNetwork returns the ID of the network behind the shoots' routers.
func (w *World) ExternalNetwork() string {
	w.T.Helper()
	answer := w.Do(http.MethodGet, conformance.Network, "/v2.0/networks?name="+strings.ReplaceAll(w.Cloud.ExternalNetwork(), " ", "%20"), nil)
	networks := answer.Objects("networks")
	require.Len(w.T, networks, 1)
	return networks[0].ID()
}
