package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const observedName = "extension-infrastructure-secondary"

// observedWithin is within all budgets: four waves of two accounts in three intervals.
func observedWithin() *secondariesResult {
	return &secondariesResult{Shoots: 100, Accounts: 2, IntervalSeconds: 10, Steps: []secondaryStep{{stepResult: stepResult{
		Name: stepUnchanged, Seconds: 30, Logins: 2, Calls: map[string]int{"neutron GET /v2.0/ports": 8},
		Controllers: map[string]controllerResult{observedName: {CPUSeconds: 1.5, Anonymous: 9 * megabyte, Reconciliations: 300, Requests: map[string]int{"get": 906}}},
	}}}}
}

func TestCheckSecondaries(t *testing.T) {
	require.NoError(t, checkSecondaries(observedWithin()))
	for want, change := range map[string]func(*secondaryStep, *controllerResult){
		"unchanged: 9 times neutron GET /v2.0/ports in 30.0 s, at most 8 are allowed: one for each account and interval": func(s *secondaryStep, _ *controllerResult) {
			s.Calls["neutron GET /v2.0/ports"]++
		},
		"1 times neutron DELETE /v2.0/ports/{id}, but a secondary changes nothing in a cloud": func(s *secondaryStep, _ *controllerResult) {
			s.CloudWrites = map[string]int{"neutron DELETE /v2.0/ports/{id}": 1}
		},
		"3 logins, at most one for each account is allowed": func(s *secondaryStep, _ *controllerResult) { s.Logins++ },
		"1 writes to the API server by extension-infrastructure-secondary, although nothing has changed": func(_ *secondaryStep, c *controllerResult) {
			c.StatusWrites++
		},
		"makes 907 requests to the API server for 300 observations and 2 that had not ended, at most 906 are allowed: 907 get": func(_ *secondaryStep, c *controllerResult) {
			c.Requests["get"]++
		},
		"401 observations by extension-infrastructure-secondary, at most 400 are allowed": func(_ *secondaryStep, c *controllerResult) {
			c.Reconciliations = 401
		},
		"extension-infrastructure-secondary takes 21.0 MB of anonymous memory, at most 20 are allowed": func(_ *secondaryStep, c *controllerResult) { c.Anonymous = 21 * megabyte },
	} {
		t.Run(want, func(t *testing.T) {
			s := observedWithin()
			c := s.Steps[0].Controllers[observedName]
			change(&s.Steps[0], &c)
			s.Steps[0].Controllers[observedName] = c
			assert.ErrorContains(t, checkSecondaries(s), want)
		})
	}
}

func TestWritesOf(t *testing.T) {
	assert.Equal(t, map[string]int{"neutron PUT /v2.0/ports/{id}": 1}, writesOf(wire.Calls{
		{Service: "keystone", Method: "POST", Path: "/v3/auth/tokens", Login: true},
		{Service: "neutron", Method: "GET", Path: "/v2.0/ports"},
		{Service: "neutron", Method: "PUT", Path: "/v2.0/ports/{id}"},
	}))
}

func TestSecondaryTable(t *testing.T) {
	table := strings.Join(secondaryTable(observedWithin()), "\n")
	assert.Regexp(t, `unchanged +extension-infrastructure-secondary +1\.50 s +5\.00 ms +3\.0 +0\.0 MB +9\.0 MB +300 +906 get`, table)
	assert.Contains(t, table, "unchanged: 2 logins and 6 reads of the cloud in 30.0 s, at most 4 waves for each account; writes: 0")
	assert.Regexp(t, `neutron GET /v2\.0/ports +8, 1\.33 for each account and interval`, table)
}
