// Command machine-controller-example creates and deletes servers of the example cloud for Machines, beside machine-controller-manager. It is the binary
// that a new cloud adds, and released for none.
package main

import (
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/machine"
	"github.com/trellis-garden/trellis/internal/machine/example"
)

func main() {
	os.Exit(machine.Main(machine.Binary{
		Name:        "machine-controller-example",
		Description: "Creates and deletes servers of the example cloud for the Machines of a shoot, beside machine-controller-manager.",
		New:         newDriver,
	}))
}

func newDriver(_ logr.Logger, registerer prometheus.Registerer) (machine.Driver, error) {
	return example.New(cloudexample.NewSessions(cloudexample.Options{Registerer: registerer})), nil
}
