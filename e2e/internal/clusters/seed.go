package clusters

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// timeout bounds the start and the end of a process, on a machine that compiles at the same time.
const timeout = 2 * time.Minute

// Seed is a seed that hosts control planes. Besides pods, the processes here are all that runs in it.
type Seed struct {
	*seed.Seed
	Gardenlet *gardenlet.Gardenlet

	programs, dir string
	kubeconfigs   map[string]string // of controllers, by their names
	manager       *process.Process
	shootManagers map[string]*process.Process // by namespace
	controllers   []*controller.Controller
	outputs       []string
	logs          []string // of outputs, those of our controllers
	started       int
}

// StartSeed starts a seed, which hosts no shoot yet, with its gardener-resource-manager. All files are in the folder dir.
func StartSeed(ctx context.Context, programs, dir string, options ...seed.Option) (*Seed, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	started, err := seed.Start(ctx, programs, dir, slices.Concat(options, []seed.Option{seed.WithControlPlaneHosting()})...)
	if err != nil {
		return nil, err
	}
	s := &Seed{
		Seed: started, Gardenlet: gardenlet.New(started.Client), programs: programs, dir: dir,
		kubeconfigs: map[string]string{}, shootManagers: map[string]*process.Process{},
	}
	if s.manager, err = grm.ForSeed(ctx, programs, s.managerDir("seed"), s.Kubeconfig); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Host prepares the seed for a shoot as Gardener does before it creates the ControlPlane: it creates the content of the shoot's namespace, and
// starts a gardener-resource-manager for the shoot's cluster.
func (s *Seed) Host(ctx context.Context, shoot *gardenlet.Shoot, cluster *shoot.Cluster) error {
	if err := s.Gardenlet.Prepare(ctx, shoot); err != nil {
		return err
	}
	if err := s.StartShootManager(ctx, shoot, cluster); err != nil {
		return err
	}
	return s.Gardenlet.PrepareControlPlane(ctx, shoot, gardenlet.APIServer{URL: cluster.URL(), CA: cluster.CA})
}

// StartShootManager starts the shoot's gardener-resource-manager. Gardener does so as well when a shoot wakes up.
func (s *Seed) StartShootManager(ctx context.Context, shoot *gardenlet.Shoot, cluster *shoot.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	namespace := shoot.Namespace()
	manager, err := grm.ForShoot(ctx, s.programs, s.managerDir(namespace), s.Kubeconfig, namespace, cluster.Kubeconfig)
	if err != nil {
		return err
	}
	s.shootManagers[namespace] = manager
	return nil
}

// StopShootManager stops the shoot's gardener-resource-manager, as Gardener does when the shoot is hibernated, migrated or deleted. The shoot's
// API server need not be running.
func (s *Seed) StopShootManager(shoot *gardenlet.Shoot) {
	manager := s.shootManagers[shoot.Namespace()]
	delete(s.shootManagers, shoot.Namespace())
	if manager != nil {
		manager.Kill()
	}
}

// StartController starts a controller with its rights in the seed, and waits until it is ready. The kubeconfig and the output of the options
// are set here.
func (s *Seed) StartController(ctx context.Context, what controller.Binary, options controller.Options) (*controller.Controller, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.kubeconfigs[what.Name] == "" {
		kubeconfig, err := s.AddController(ctx, what.Name, what.Role)
		if err != nil {
			return nil, err
		}
		s.kubeconfigs[what.Name] = kubeconfig
	}
	options.Kubeconfig, options.Output = s.kubeconfigs[what.Name], filepath.Join(s.dir, what.Name+".log")
	started, err := what.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	s.controllers = append(s.controllers, started)
	s.addOutput(options.Output)
	if !slices.Contains(s.logs, options.Output) {
		s.logs = append(s.logs, options.Output)
	}
	return started, nil
}

// Stop stops everything. The shoots' clusters or their gardener-resource-managers should be stopped before.
func (s *Seed) Stop() error { return errors.Join(s.endProcesses(), s.Seed.Stop()) }

// endProcesses signals all processes. Controllers that have ended were stopped by a test.
func (s *Seed) endProcesses() error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var failures []error
	for _, c := range s.controllers {
		select {
		case <-c.Exited():
		default:
			failures = append(failures, c.Terminate(ctx))
		}
	}
	for namespace, manager := range s.shootManagers {
		if err := manager.Terminate(ctx); err != nil {
			failures = append(failures, fmt.Errorf("ending the resource manager of %s: %w", namespace, err))
		}
	}
	if s.manager != nil {
		failures = append(failures, s.manager.Terminate(ctx))
	}
	s.controllers, s.manager = nil, nil
	clear(s.shootManagers)
	return errors.Join(failures...)
}

// managerDir returns a new folder for a gardener-resource-manager.
func (s *Seed) managerDir(name string) string {
	s.started++
	dir := filepath.Join(s.dir, fmt.Sprintf("%s-%d-%s", grm.Name, s.started, name))
	s.addOutput(filepath.Join(dir, grm.Name+".log"))
	return dir
}

func (s *Seed) addOutput(output string) {
	if !slices.Contains(s.outputs, output) {
		s.outputs = append(s.outputs, output)
	}
}
