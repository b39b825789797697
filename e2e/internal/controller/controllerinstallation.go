package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// ControllerInstallation is the operator of ControllerInstallations. It is no extension: it uses a garden and seeds.
func ControllerInstallation() Binary {
	return Binary{Name: "controllerinstallation-controller", Types: []string{"trellis"}}
}

// ControllerInstallationOptions configure it.
type ControllerInstallationOptions struct {
	// Path is the path of the binary, Output a file for its logs.
	Path, Output string
	// Own is the kubeconfig of the cluster in which it would be a pod: the garden itself, the cluster of the garden's pods, or a seed.
	Own string
	// Garden is the garden's kubeconfig; empty if it is Own.
	Garden string
	// SeedName is the name of its own seed; empty if it serves many.
	SeedName string
	// Namespace is its namespace in its own cluster.
	Namespace string
	// LeaderElection enables leader election.
	LeaderElection bool
	// Args are appended to the command line.
	Args []string
	// Env is added to the environment.
	Env []string
}

// StartControllerInstallation starts the binary and waits until it is ready.
func (b Binary) StartControllerInstallation(ctx context.Context, options ControllerInstallationOptions) (*Controller, error) {
	started, ready, err := b.LaunchControllerInstallation(options)
	if err != nil {
		return nil, err
	}
	if err := started.WaitForOK(ctx, ready); err != nil {
		started.Kill()
		return nil, fmt.Errorf("starting %s: %w", b.Name, err)
	}
	return started, nil
}

// LaunchControllerInstallation starts the binary and returns the URL of its readiness.
func (b Binary) LaunchControllerInstallation(options ControllerInstallationOptions) (started *Controller, ready string, err error) {
	health, err := process.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	metrics, err := process.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err := process.Start(options.Path, options.args(b.Types, health, metrics), options.Env, options.Output)
	if err != nil {
		return nil, "", err
	}
	return &Controller{Process: p, MetricsURL: "http://" + metrics + "/metrics"}, "http://" + health + "/readyz", nil
}

func (o ControllerInstallationOptions) args(types []string, health, metrics string) []string {
	args := []string{
		"--types=" + strings.Join(types, ","),
		"--kubeconfig=" + o.Own,
		"--leader-election=" + strconv.FormatBool(o.LeaderElection),
		"--leader-election-namespace=" + o.Namespace,
		"--health-bind-address=" + health,
		"--metrics-bind-address=" + metrics,
		"--log-level=debug",
		"--log-format=text",
	}
	if o.Garden != "" {
		args = append(args, "--garden-kubeconfig="+o.Garden)
	}
	if o.SeedName != "" {
		args = append(args, "--seed-name="+o.SeedName)
	}
	return slices.Concat(args, o.Args)
}
