package worker

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// requests are what controllers have asked for in all lives.
type requests struct {
	lock sync.Mutex
	all  []seed.Request
}

// add notes what the controller has asked for in a world, and makes sure that it had the right to.
func (r *requests) add(t *testing.T, w *world) {
	t.Helper()
	for _, s := range []*ground.Seed{w.Source, w.Destination} {
		if s == nil {
			continue
		}
		some, err := s.Requests(controllerName)
		require.NoError(t, err)
		for _, request := range some {
			assert.NotEqual(t, http.StatusForbidden, request.Code, "%v", request)
		}
		r.lock.Lock()
		r.all = append(r.all, some...)
		r.lock.Unlock()
	}
}

// assertAllNeeded makes sure that the controller has no right without use.
func (r *requests) assertAllNeeded(t *testing.T) {
	t.Helper()
	for _, rule := range controller.Worker().Role.Cluster {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				assert.True(t, r.used(rule, resource, verb) || isForRareCases(rule, resource, verb), "%s %s %s is not needed", verb, rule.APIGroups, resource)
			}
		}
	}
}

func (r *requests) used(rule rbacv1.PolicyRule, resource, verb string) bool {
	return slices.ContainsFunc(r.all, func(request seed.Request) bool {
		return request.Verb == verb && slices.Contains(rule.APIGroups, request.Group) && request.Resource == resource
	})
}

// isForRareCases tells of what libraries fall back to: a cache lists where an API server cannot begin a watch with what there is, and
// an Event that happens again within minutes is counted up; of what package webhooks sees: registrations that change and go; and of what
// takes longer than a test: a machine-controller-manager that is stuck gets another pod after five minutes.
func isForRareCases(rule rbacv1.PolicyRule, resource, verb string) bool {
	return verb == "list" && slices.Contains(rule.Verbs, "watch") || verb == "patch" && resource == "events" ||
		slices.Contains(rule.APIGroups, "admissionregistration.k8s.io") || resource == "pods"
}
