package clusters

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// MachineOptions configure StartMachines.
type MachineOptions struct {
	// Controller is the path of our machine controller, which runs beside machine-controller-manager.
	Controller string
	// Flags replace flags of machine-controller-manager's Deployment.
	Flags map[string]string
	// Nodes are options of the simulation of Nodes.
	Nodes []nodes.Option
}

// StartMachines enables machines for the shoot of StartCluster: in each seed machine-controller-manager runs once gardenlet deploys it, with our
// machine controller, and what runs on the shoot's machines is simulated. Options.Machines must be set.
func (c *Clusters) StartMachines(ctx context.Context, options MachineOptions) error {
	account, err := cloud.WithMachines(c.Account)
	if err != nil {
		return err
	}
	for _, s := range c.Seeds {
		dir, err := c.Folder("machines-" + filepath.Base(s.dir))
		if err != nil {
			return err
		}
		s.Machines = mcm.Start(ctx, s.Seed, mcm.Options{
			Manager: filepath.Join(c.Programs, mcm.Manager), MachineController: options.Controller, Flags: options.Flags,
			Env: account.MachineControllerEnv(), Dir: dir,
		})
	}
	c.Nodes, err = nodes.Start(ctx, c.Cluster.Config, account.Servers(c.Shoot), options.Nodes...)
	return err
}

// StopMachines kills machine-controller-manager and the machine controller, if they run, and stops the simulation of Nodes.
func (c *Clusters) StopMachines() error {
	if c.Nodes != nil {
		c.Nodes.Stop()
		c.Nodes = nil
	}
	var failures []error
	for _, s := range c.Seeds {
		if s.Machines != nil {
			failures = append(failures, s.Machines.Stop())
		}
		s.Machines = nil
	}
	return errors.Join(failures...)
}
