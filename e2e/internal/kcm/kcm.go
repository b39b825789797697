// Package kcm runs kube-controller-manager for an API server, with those of its controllers whose results others need: pods of Deployments and
// DaemonSets, garbage collection, deletion of namespaces' content, and ServiceAccounts. There is no scheduler and no node, see package workload.
package kcm

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// Name is the name of the program.
const Name = "kube-controller-manager"

// Disruption is the controller that permits evictions according to PodDisruptionBudgets.
const Disruption = "disruption-controller"

// Start starts the program of the folder programs for the API server of an administrator's kubeconfig, and waits until it is healthy. Its files
// are in dir. It also runs the named controllers.
func Start(ctx context.Context, programs, dir, kubeconfig string, besides ...string) (*process.Process, error) {
	return StartWith(ctx, programs, dir, kubeconfig, "--controllers="+strings.Join(append(controllers(), besides...), ","))
}

// StartWith is Start with further arguments, and all controllers unless they choose.
func StartWith(ctx context.Context, programs, dir, kubeconfig string, further ...string) (*process.Process, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		"--cert-dir=" + dir,
		"--leader-elect=false",
		"--use-service-account-credentials=false",
		// No other program uses the API server as much, and all tests wait for it.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
	p, err := process.Start(filepath.Join(programs, Name), append(args, further...), nil, filepath.Join(dir, Name+".log"))
	if err != nil {
		return nil, err
	}
	if err := p.WaitForTLS(ctx, "https://"+address+"/healthz"); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting %s: %w", Name, err)
	}
	return p, nil
}

func controllers() []string {
	return []string{
		"deployment-controller", "replicaset-controller", "daemonset-controller",
		"garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
	}
}
