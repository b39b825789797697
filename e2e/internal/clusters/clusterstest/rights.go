package clusterstest

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// AwaitNothingForbidden waits until an audit log has no request of a user that is permanently forbidden. Watches are logged when they end, so
// the controller must have been stopped.
func AwaitNothingForbidden(t *testing.T, log audit.Log, user string) {
	t.Helper()
	var forbidden []string
	defer func() { assert.Empty(t, forbidden, "what %s has no right to", user) }()
	Eventually(t, "nothing is refused to "+user, func() bool {
		var err error
		forbidden, err = log.PermanentlyForbidden(user)
		require.NoError(t, err)
		return len(forbidden) == 0
	})
}

// AssertNoWriteForbidden asserts that controllers have all rights to write that they use in a seed, and returns their writes. A missing right need not fail a
// test: e.g. nothing depends on an Event.
func AssertNoWriteForbidden(t *testing.T, s *seed.Seed) []audit.Write {
	t.Helper()
	writes, err := s.Writes("")
	require.NoError(t, err)
	for _, write := range writes {
		assert.NotEqual(t, http.StatusForbidden, write.Code, write.String())
	}
	return writes
}

// Requests are the requests of a controller in several seeds, in which it may run at the same time.
type Requests struct {
	lock sync.Mutex
	all  []audit.Request
}

// Add adds the controller's requests in seeds, and asserts that none was forbidden. The controller must have ended, since watches are logged
// when they end.
func (r *Requests) Add(t *testing.T, what controller.Binary, seeds ...*clusters.Seed) {
	t.Helper()
	for _, s := range seeds {
		some, err := s.Requests(what.Name)
		require.NoError(t, err)
		for _, request := range some {
			assert.NotEqual(t, http.StatusForbidden, request.Code, "%v", request)
		}
		r.lock.Lock()
		r.all = append(r.all, some...)
		r.lock.Unlock()
	}
}

// AssertAllNeeded asserts that the controller has used all its rights in all namespaces. Exempt are the resources that the caller names, and
// rights for rare cases: a cache lists if an API server cannot start a watch from its version; a repeated Event is patched; registrations of
// webhooks are updated and deleted, which package webhooks tests.
func (r *Requests) AssertAllNeeded(t *testing.T, what controller.Binary, aside ...string) {
	t.Helper()
	for _, rule := range what.Role.Cluster {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rare := verb == "list" && slices.Contains(rule.Verbs, "watch") || verb == "patch" && resource == "events" ||
						group == "admissionregistration.k8s.io" || slices.Contains(aside, resource)
					assert.True(t, rare || r.used(rule, group, resource, verb), "%s %s of %q is not needed", verb, resource, group)
				}
			}
		}
	}
}

func (r *Requests) used(rule rbacv1.PolicyRule, group, resource, verb string) bool {
	return slices.ContainsFunc(r.all, func(request audit.Request) bool {
		return request.Verb == verb && request.Group == group && request.Resource == resource &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, request.Name))
	})
}
