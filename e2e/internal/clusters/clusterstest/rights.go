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
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// AwaitNothingForbidden waits until an audit log tells nothing that was refused to a user for good. Watches are logged when they end, so whoever
// asked for them must have been stopped before.
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

// Requests are what a controller has asked for in several seeds, which may be played side by side.
type Requests struct {
	lock sync.Mutex
	all  []audit.Request
}

// Add notes what the controller has asked for in seeds, and makes sure that it had the right to. Watches are known when they have ended,
// and so has the controller.
func (r *Requests) Add(t *testing.T, what controller.Binary, seeds ...*seed.Seed) {
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

// AssertAllNeeded makes sure that the controller has no right in all namespaces that it has not used. Left aside are resources that the
// caller names, and rights for rare cases: a cache lists where an API server cannot begin a watch with what there is; an Event that
// happens again within minutes is counted up; registrations of webhooks change and go, of which package webhooks sees more.
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
