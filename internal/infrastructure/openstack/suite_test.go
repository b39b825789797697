package openstack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
	"github.com/trellis-garden/trellis/internal/infrastructure/openstack"
)

// TestSuite runs the suite for the driver, and shows that it would have found a driver out that breaks the two rules on
// which everything else stands: to mark or record before the create, and to go by marks and records alone.
func TestSuite(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	t.Run("the driver passes", func(t *testing.T) {
		build := func(sessions *cloudopenstack.Sessions) infrastructure.Driver {
			return openstack.New(sessions, openstack.Options{FullCheckInterval: 10 * time.Minute})
		}
		infrastructuretest.Run(t, server, suiteSubject(build, map[string]int{
			"network": 1, "subnet": 1, "router": 1, "port": 2, "security group": 1, "security group rule": 5, "key pair": 1,
		}))
	})
	for name, broken := range brokenDrivers() {
		t.Run(name+" is rejected", func(t *testing.T) {
			subject := suiteSubject(broken.build, map[string]int{"network": 1})
			report, err := infrastructuretest.Explore(t.Context(), server, subject, contracttest.Options{MaxFailures: 1, Deadline: time.Minute})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures, "%s", report)
			assert.Contains(t, report.Failures[0].String(), broken.violation)
		})
	}
}

func suiteSubject(build func(*cloudopenstack.Sessions) infrastructure.Driver, want map[string]int) infrastructuretest.Subject {
	return infrastructuretest.Subject{
		Type: openstack.Type,
		NewCloud: func(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
			return newSuiteCloud(shoot, build)
		},
		ErrorResponses: suiteErrorResponses,
		Want:           want,
	}
}
