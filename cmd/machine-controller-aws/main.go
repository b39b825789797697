// Command machine-controller-aws creates and deletes EC2 instances in AWS for machine-controller-manager, as a sidecar of it. It only composes:
// the process, the driver and its sessions.
//
// $AWS_ENDPOINT_URL is the address of all services of AWS instead of AWS' own ones, as for the tools of AWS: of a program that answers in their place.
package main

import (
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/machine"
	"github.com/trellis-garden/trellis/internal/machine/aws"
)

func main() {
	os.Exit(machine.Main(machine.Binary{
		Name:        "machine-controller-aws",
		Description: "Creates and deletes EC2 instances in AWS for the Machines of a shoot, beside machine-controller-manager.",
		New:         newDriver,
	}))
}

func newDriver(log logr.Logger, registerer prometheus.Registerer) (machine.Driver, error) {
	sessions := cloudaws.NewSessions(cloudaws.Options{
		Registerer: registerer, Burst: aws.SessionBurst, Endpoint: os.Getenv("AWS_ENDPOINT_URL"),
		UserAgent: "trellis-machine-controller-aws/" + buildinfo.Read().Version,
	})
	return aws.New(aws.Options{Sessions: sessions, Registerer: registerer, Log: log})
}
