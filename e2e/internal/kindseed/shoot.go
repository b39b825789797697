package kindseed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// Shoot is a shoot in the Env's cloud, hosted by its seed. Its description may be changed between reconciliations.
type Shoot struct {
	*gardenlet.Shoot
	// Account is used by this shoot only.
	Account *openstack.Account
	// Cluster is nil until Host has started it.
	Cluster *shoot.Cluster

	env     *Env
	manager *process.Process
	nodes   *nodes.Nodes
}

// NewShoot describes a shoot with an account of its own and one pool of two machines, and fills its namespace in the seed.
func (env *Env) NewShoot(ctx context.Context, name string) (*Shoot, error) {
	account, err := env.NewAccount(ctx, name)
	if err != nil {
		return nil, err
	}
	s := &Shoot{Shoot: account.NewShoot(name), Account: account, env: env}
	account.OfferMachines(s.Shoot)
	s.Workers = []gardencorev1beta1.Worker{openstack.NewPool("pool", 2, 2)}
	return s, s.prepare(ctx)
}

// prepare fills the shoot's namespace. A webhook may be registered before nodes have a route to its Service, so it retries.
func (s *Shoot) prepare(ctx context.Context) error {
	var last error
	err := s.env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		if last = s.env.Gardenlet.Prepare(ctx, s.Shoot); apierrors.IsInternalError(last) {
			return false, nil
		}
		return true, last
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// step is a step of a shoot's flow.
type step struct {
	name string
	do   func(context.Context) error
}

func (s *Shoot) runSteps(ctx context.Context, steps ...step) error {
	for _, step := range steps {
		if err := s.env.phase(ctx, "shoot "+s.Name+": "+step.name, step.do); err != nil {
			return err
		}
	}
	return nil
}

// Create creates the shoot's extension objects in gardenlet's order.
func (s *Shoot) Create(ctx context.Context) error {
	return s.runSteps(ctx,
		step{"cluster", s.Host},
		step{"Infrastructure", s.ReconcileInfrastructure},
		step{"ControlPlane", s.ReconcileControlPlane},
		step{"Network", s.RequestNetwork},
		step{"Worker", s.ReconcileWorker},
		step{"network is ready", s.AwaitNetwork},
	)
}

// Delete deletes the shoot's extension objects in gardenlet's order, and stops its cluster. Its account stays, empty.
func (s *Shoot) Delete(ctx context.Context) error {
	s.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	s.LastOperationState = gardencorev1beta1.LastOperationStateProcessing
	return s.runSteps(ctx,
		step{"no Worker", s.DestroyWorker},
		step{"no Network", s.DestroyNetwork},
		step{"no ControlPlane", s.DestroyControlPlane},
		step{"no Infrastructure", s.DestroyInfrastructure},
		step{"no cluster", s.Release},
	)
}

// ReconcileInfrastructure reconciles the Infrastructure, waits for it, and copies its status to the shoot's objects.
func (s *Shoot) ReconcileInfrastructure(ctx context.Context) error {
	if err := s.env.Gardenlet.Prepare(ctx, s.Shoot); err != nil {
		return err
	}
	component := s.env.Gardenlet.Infrastructure(s.Shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	if err := component.Wait(ctx); err != nil {
		return err
	}
	s.InfrastructureStatus = json.RawMessage(component.ProviderStatus().Raw)
	return nil
}

// ReconcileControlPlane reconciles the ControlPlane and waits for it.
func (s *Shoot) ReconcileControlPlane(ctx context.Context) error {
	if err := s.env.Gardenlet.Prepare(ctx, s.Shoot); err != nil {
		return err
	}
	component := s.env.Gardenlet.ControlPlane(s.Shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// RequestNetwork requests a reconciliation of the Network and does not wait, since it may need nodes. AwaitNetwork waits.
func (s *Shoot) RequestNetwork(ctx context.Context) error {
	component, err := s.env.Gardenlet.Network(s.Shoot)
	if err != nil {
		return err
	}
	return component.Deploy(ctx)
}

// AwaitNetwork waits for the Network.
func (s *Shoot) AwaitNetwork(ctx context.Context) error {
	component, err := s.env.Gardenlet.Network(s.Shoot)
	if err != nil {
		return err
	}
	return component.Wait(ctx)
}

// ReconcileWorker deploys machine-controller-manager, reconciles the Worker and waits for it. From now on servers become nodes.
func (s *Shoot) ReconcileWorker(ctx context.Context) error {
	if err := s.prepareMachines(ctx); err != nil {
		return err
	}
	if s.nodes == nil {
		var err error
		servers := s.Account.Servers(s.Shoot)
		if s.nodes, err = nodes.Start(ctx, s.Cluster.Config, servers, nodes.WithCloudControllerManager()); err != nil {
			return err
		}
	}
	return s.env.Gardenlet.ReconcileWorker(ctx, s.Shoot)
}

func (s *Shoot) prepareMachines(ctx context.Context) error {
	return s.env.Gardenlet.PrepareMachines(ctx, s.Shoot, s.apiServer())
}

// DestroyWorker deletes the Worker, waits until it is gone, and removes machine-controller-manager.
func (s *Shoot) DestroyWorker(ctx context.Context) error {
	if err := s.prepareMachines(ctx); err != nil {
		return err
	}
	return s.env.Gardenlet.DestroyWorker(ctx, s.Shoot)
}

// DestroyNetwork deletes the Network and waits until it is gone.
func (s *Shoot) DestroyNetwork(ctx context.Context) error {
	component, err := s.env.Gardenlet.Network(s.Shoot)
	if err != nil {
		return err
	}
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// DestroyControlPlane deletes the ControlPlane and waits until it is gone.
func (s *Shoot) DestroyControlPlane(ctx context.Context) error {
	component := s.env.Gardenlet.ControlPlane(s.Shoot)
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// DestroyInfrastructure deletes the Infrastructure and waits until it is gone.
func (s *Shoot) DestroyInfrastructure(ctx context.Context) error {
	component := s.env.Gardenlet.Infrastructure(s.Shoot)
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// Release stops the shoot's cluster, if it has one, and deletes its namespace and its Cluster, as gardenlet does at the end. It waits until both
// are gone.
func (s *Shoot) Release(ctx context.Context) error {
	if s.Cluster != nil {
		if err := s.env.Gardenlet.RemoveAccess(ctx, s.Shoot); err != nil {
			return err
		}
		if err := s.end(); err != nil {
			return err
		}
	}
	if err := s.env.Gardenlet.Cleanup(ctx, s.Shoot); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace()}}
	return s.env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		err := s.env.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		return err != nil, client.IgnoreNotFound(err)
	})
}

// end kills all processes of the shoot.
func (s *Shoot) end() error {
	s.env.remove(s)
	if s.nodes != nil {
		s.nodes.Stop()
	}
	if s.manager != nil {
		s.manager.Kill()
	}
	var failures []error
	if s.Cluster != nil {
		failures = append(failures, s.Cluster.Stop())
	}
	s.nodes, s.manager, s.Cluster = nil, nil, nil
	return errors.Join(failures...)
}

// Nodes lists the nodes of the shoot's cluster.
func (s *Shoot) Nodes(ctx context.Context) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	if err := s.Cluster.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing the nodes of shoot %s: %w", s.Name, err)
	}
	return list.Items, nil
}

// AwaitDeployment waits until all pods of a Deployment in the shoot's namespace are ready.
func (s *Shoot) AwaitDeployment(ctx context.Context, name string) error {
	return s.env.awaitDeployment(ctx, s.Namespace(), name)
}

func (env *Env) awaitDeployment(ctx context.Context, namespace, name string) error {
	last := errors.New("not there yet")
	if err := env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		deployment := &appsv1.Deployment{}
		err := env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
		if err == nil {
			last = health.CheckDeployment(deployment)
		}
		return err == nil && last == nil, client.IgnoreNotFound(err)
	}); err != nil {
		return fmt.Errorf("waiting for Deployment %s/%s: %w; %w", namespace, name, err, last)
	}
	return nil
}
