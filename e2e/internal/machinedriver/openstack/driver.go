// Package openstack composes the driver of OpenStack's machines as machine-controller-openstack does, for programs that call it without that process.
package openstack

import (
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/go-logr/logr"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/machine/openstack"
)

// callsPerSecond is the rate of a session, the default of its options.
const callsPerSecond = 50

// LimiterRecovery is how long the rate limiter of the driver's session takes to be full again.
func LimiterRecovery() time.Duration { return openstack.SessionBurst * time.Second / callsPerSecond }

// New returns the driver, without logs and metrics.
func New() (driver.Driver, error) {
	sessions := cloudopenstack.NewSessions(cloudopenstack.Options{QPS: callsPerSecond, Burst: openstack.SessionBurst, UserAgent: "trellis-bench"})
	return openstack.New(openstack.Options{Sessions: sessions, Log: logr.Discard()})
}
