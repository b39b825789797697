// Command gardenet-service-router routes the Services of a shoot without kube-proxy on the node that it runs on. It is in a module of its own, since it links
// Kubernetes' proxier, which needs Kubernetes' own versions of its staging modules, and changes with each minor version.
package main

import (
	"os"

	"github.com/trellis-garden/trellis/cmd/gardenet-service-router/internal/command"
)

func main() { os.Exit(command.Main()) }
