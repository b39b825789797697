// Command trellis-inspect prints what the extension objects of one shoot in a seed say. It is for admins, runs outside of clusters and only reads. As a
// file named kubectl-trellis it is "kubectl trellis". It only composes: the command, and the cloud of each type of Infrastructure.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/trellis-garden/trellis/internal/inspect"
	"github.com/trellis-garden/trellis/internal/inspect/aws"
	"github.com/trellis-garden/trellis/internal/inspect/openstack"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	command := inspect.Command{
		Name: inspect.NameOf(os.Args[0]),
		Clouds: map[string]inspect.Cloud{
			openstack.Type: openstack.Cloud{},
			aws.Type:       aws.Cloud{},
		},
		Now: time.Now,
	}
	code := command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}
