// Command machine-controller is the machine driver for OpenStack, as it runs beside machine-controller-manager.
package main

import (
	"fmt"
	"os"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/app"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/app/options"
	"github.com/spf13/pflag"
)

func main() {
	server := options.NewMCServer()
	server.AddFlags(pflag.CommandLine)
	pflag.Parse()
	if err := app.Run(server, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
