package network

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// testRights makes sure that the controller has no right without use, after everything that it has done here.
func testRights(t *testing.T, w *world) {
	var requests []seed.Request
	for _, s := range []*ground.Seed{w.Source, w.Destination} {
		some, err := s.Requests(controllerName)
		require.NoError(t, err)
		requests = append(requests, some...)
	}
	used := func(rule rbacv1.PolicyRule, verb string) bool {
		return slices.ContainsFunc(requests, func(r seed.Request) bool {
			return r.Verb == verb && slices.Contains(rule.APIGroups, r.Group) && slices.Contains(rule.Resources, r.Resource)
		})
	}
	for _, rule := range controller.Network().Role.Cluster {
		for _, verb := range rule.Verbs {
			assert.True(t, used(rule, verb), "%s %s %s is not needed", verb, rule.APIGroups, rule.Resources)
		}
	}
}

// assertNothingForbidden makes sure that the controller has all the rights that it uses.
func (w *world) assertNothingForbidden(t *testing.T) {
	t.Helper()
	for _, s := range []*ground.Seed{w.Source, w.Destination} {
		requests, err := s.Requests(controllerName)
		require.NoError(t, err)
		for _, request := range requests {
			assert.NotEqual(t, http.StatusForbidden, request.Code, "%v", request)
		}
	}
}
