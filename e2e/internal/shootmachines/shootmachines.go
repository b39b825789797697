// Package shootmachines simulates the machines of all shoots of a seed. It finds the shoots' namespaces and API servers, makes Nodes of the cloud's
// servers (package nodes), reports pods as running on them (package workload), and does the rest of what gardenlet asks of machines: checksums
// of OperatingSystemConfigs and Leases of gardener-node-agent, and kubelets that forward ports. StandIns lists all of it.
//
// Shoots come and go, hibernate, and change their CAs: the simulation of a shoot ends only with its namespace or its API server's Service. Every
// change and every lasting error is a line of the log. The package must not depend on a cloud or on the steps of a shoot's life.
package shootmachines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

const (
	// interval is how often namespaces and the access to API servers are looked at.
	interval = 2 * time.Second
	// requestTimeout bounds a single request, so that an API server that is away is noticed.
	requestTimeout = 5 * time.Second
)

// Options configure Start.
type Options struct {
	// Seed is an administrator's config of the seed.
	Seed *rest.Config
	// Servers returns a function that lists the servers of a shoot, by its technical ID; nil if there is no such shoot.
	Servers func(technicalID string) func(context.Context) ([]nodes.Server, error)
	// Log gets a line for each change, and for errors that last.
	Log io.Writer
}

// Machines simulate the machines of the shoots of a seed.
type Machines struct {
	options Options
	seed    client.Client
	log     *journal
	stop    context.CancelFunc
	ended   chan struct{}

	lock   sync.Mutex
	shoots map[string]*shoot
}

// Start starts the simulation.
func Start(ctx context.Context, options Options) (*Machines, error) {
	seed, err := client.New(options.Seed, client.Options{Scheme: kubernetes.SeedScheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the seed for its shoots' machines: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &Machines{
		options: options, seed: seed, log: newJournal(options.Log), stop: stop, ended: make(chan struct{}), shoots: map[string]*shoot{},
	}
	go m.run(run)
	return m, nil
}

// Stop leaves all Nodes and pods as they are.
func (m *Machines) Stop() {
	m.stop()
	<-m.ended
}

// Config returns an administrator's config of a shoot's API server that was accepted last, or an error if there is none.
func (m *Machines) Config(technicalID string) (*rest.Config, error) {
	m.lock.Lock()
	found := m.shoots[technicalID]
	m.lock.Unlock()
	if found == nil {
		return nil, fmt.Errorf("there is no control plane of %s in this seed", technicalID)
	}
	return found.config()
}

func (m *Machines) run(ctx context.Context) {
	defer close(m.ended)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := m.sync(ctx); ctx.Err() == nil {
			m.log.state("seed", "seeing the namespaces of shoots", err)
		}
		select {
		case <-ctx.Done():
			m.lock.Lock()
			defer m.lock.Unlock()
			for _, s := range m.shoots {
				s.stop()
			}
			return
		case <-tick.C:
		}
	}
}

// sync starts the simulation of new shoots, and ends that of shoots that are gone.
func (m *Machines) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	list := &corev1.NamespaceList{}
	if err := m.seed.List(ctx, list, client.MatchingLabels{v1beta1constants.GardenRole: v1beta1constants.GardenRoleShoot}); err != nil {
		return fmt.Errorf("listing namespaces: %w", err)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	names := make([]string, 0, len(list.Items))
	var failures []error
	for _, namespace := range list.Items {
		names = append(names, namespace.Name)
		if m.shoots[namespace.Name] != nil {
			continue
		}
		servers := m.options.Servers(namespace.Name)
		if servers == nil {
			failures = append(failures, fmt.Errorf("nobody knows the account of %s", namespace.Name))
			continue
		}
		m.log.linef("%s: has a control plane", namespace.Name)
		m.shoots[namespace.Name] = startShoot(m.seed, m.log, namespace.Name, servers)
	}
	for name, s := range m.shoots {
		if !slices.Contains(names, name) {
			m.log.linef("%s: its control plane is gone", name)
			s.stop()
			delete(m.shoots, name)
		}
	}
	return errors.Join(failures...)
}
