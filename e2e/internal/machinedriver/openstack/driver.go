// Package openstack composes the driver of OpenStack's machines as machine-controller-openstack does, for programs that call it without that process.
package openstack

import (
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/go-logr/logr"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/machine/openstack"
)

// New returns the driver, without logs and metrics.
func New() (driver.Driver, error) {
	sessions := cloudopenstack.NewSessions(cloudopenstack.Options{Burst: openstack.SessionBurst, UserAgent: "trellis-bench"})
	return openstack.New(openstack.Options{Sessions: sessions, Log: logr.Discard()})
}
