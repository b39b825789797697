package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
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
	// Machines are the pods of machine-controller-manager, once StartMachines has been called.
	Machines *mcm.Pods

	programs, dir string
	manager       *process.Process
	shootManagers map[string]*process.Process // by namespace

	lock        sync.Mutex        // controllers may be started at the same time
	kubeconfigs map[string]string // of controllers, by their names
	controllers []*controller.Controller
	outputs     []string
	logs        []string // of outputs, those of our controllers
	started     int
}

// StartSeed starts a seed, which hosts no shoot yet, with its gardener-resource-manager. All files are in the folder dir.
func StartSeed(ctx context.Context, programs, dir string, options ...seed.Option) (*Seed, error) {
	s, err := StartBareSeed(ctx, programs, dir, slices.Concat(options, []seed.Option{seed.WithControlPlaneHosting()})...)
	if err != nil {
		return nil, err
	}
	if err := s.startManager(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// startHosting makes the seed that it would be after StartSeed of one with seed.WithControlPlaneHostingLater.
func (s *Seed) startHosting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.StartHosting(ctx, s.programs); err != nil {
		return err
	}
	return s.startManager(ctx)
}

func (s *Seed) startManager(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.manager, err = grm.ForSeed(ctx, s.programs, s.managerDir("seed"), s.Kubeconfig)
	return err
}

// StartBareSeed starts a seed in which no control planes can run.
func StartBareSeed(ctx context.Context, programs, dir string, options ...seed.Option) (*Seed, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	started, err := seed.Start(ctx, programs, dir, options...)
	if err != nil {
		return nil, err
	}
	return newSeed(started, programs, dir), nil
}

func newSeed(started *seed.Seed, programs, dir string) *Seed {
	return &Seed{
		Seed: started, Gardenlet: gardenlet.New(started.Client), programs: programs, dir: dir,
		kubeconfigs: map[string]string{}, shootManagers: map[string]*process.Process{},
	}
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

// StartController starts a controller with its rights in the seed, and waits until it is ready. The kubeconfig of the options is set here, and the
// output if it is empty.
func (s *Seed) StartController(ctx context.Context, what controller.Binary, options controller.Options) (*controller.Controller, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var err error
	if options.Kubeconfig, err = s.kubeconfigOf(ctx, what); err != nil {
		return nil, err
	}
	options.Output = cmp.Or(options.Output, filepath.Join(s.dir, what.Name+".log"))
	started, err := what.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.controllers = append(s.controllers, started)
	s.addOutput(options.Output)
	if !slices.Contains(s.logs, options.Output) {
		s.logs = append(s.logs, options.Output)
	}
	return started, nil
}

// kubeconfigOf returns the path of the kubeconfig of a controller, which gets its rights at the first call.
func (s *Seed) kubeconfigOf(ctx context.Context, what controller.Binary) (string, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if path := s.kubeconfigs[what.Name]; path != "" {
		return path, nil
	}
	path, err := s.AddController(ctx, what.Name, what.Role)
	if err != nil {
		return "", err
	}
	s.kubeconfigs[what.Name] = path
	return path, nil
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
