// Command machine-controller-openstack creates and deletes servers in OpenStack for machine-controller-manager, as a sidecar of it. It only composes:
// the process, the driver and its sessions.
package main

import (
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/machine"
	"github.com/trellis-garden/trellis/internal/machine/openstack"
)

func main() {
	os.Exit(machine.Main(machine.Binary{
		Name:        "machine-controller-openstack",
		Description: "Creates and deletes servers in OpenStack for the Machines of a shoot, beside machine-controller-manager.",
		New:         newDriver,
	}))
}

func newDriver(log logr.Logger, registerer prometheus.Registerer) (machine.Driver, error) {
	sessions := cloudopenstack.NewSessions(cloudopenstack.Options{
		Registerer: registerer, Burst: openstack.SessionBurst, UserAgent: "trellis-machine-controller-openstack/" + buildinfo.Read().Version,
	})
	return openstack.New(openstack.Options{Sessions: sessions, Registerer: registerer, Log: log})
}
