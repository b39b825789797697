package state

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Store holds the state of deployments and the observations of installations. It is safe for concurrent use. New returns one.
type Store struct {
	mutex sync.Mutex
	// deployments has the published state, by the name of the deployment.
	deployments map[string]Deployment
	// observations and requested are by the name of the installation.
	observations map[string]Observation
	requested    map[string]bool
	// lastReachedAt is when any seed answered last. While none does, the operator itself may be cut off.
	lastReachedAt time.Time

	changedDeployments, changedInstallations changes
}

// New returns an empty store.
func New() *Store {
	return &Store{deployments: map[string]Deployment{}, observations: map[string]Observation{}, requested: map[string]bool{}}
}

// ChangedDeployments is a source of requests for ControllerDeployments on which there are new observations. One controller may watch it.
func (s *Store) ChangedDeployments() source.Source { return &s.changedDeployments }

// ChangedInstallations is a source of requests for ControllerInstallations whose deployment has new state, or that are to be checked. One controller
// may watch it.
func (s *Store) ChangedInstallations() source.Source { return &s.changedInstallations }

// changes adds names to the queue of the controller that watches it. Before that controller has started, and without one, changes are dropped: it
// reconciles every object when it starts, and reads the store then.
type changes struct {
	mutex sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

var _ source.Source = (*changes)(nil)

// Start implements source.Source.
func (c *changes) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.queue = queue
	return nil
}

func (c *changes) add(name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.queue != nil {
		c.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
}
