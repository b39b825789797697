package shootmachines

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// startTimeout bounds the start of the simulation of pods, which reads all pods once.
const startTimeout = time.Minute

// shoot simulates the machines of one shoot.
type shoot struct {
	seed      client.Client
	log       *journal
	namespace string
	servers   func(context.Context) ([]nodes.Server, error)
	cancel    context.CancelFunc
	ended     chan struct{}

	known    map[string]*access // by name
	versions map[string]string  // of kubelets, by machine

	lock    sync.Mutex
	present *access
}

// running is the simulation with one way to the API server.
type running struct {
	client client.Client
	nodes  *nodes.Nodes
	pods   *workload.Kubelets
}

func startShoot(seed client.Client, log *journal, namespace string, servers func(context.Context) ([]nodes.Server, error)) *shoot {
	ctx, cancel := context.WithCancel(context.Background())
	s := &shoot{
		seed: seed, log: log, namespace: namespace, servers: servers, cancel: cancel, ended: make(chan struct{}),
		known: map[string]*access{}, versions: map[string]string{},
	}
	go s.run(ctx)
	return s
}

func (s *shoot) stop() {
	s.cancel()
	<-s.ended
}

func (s *shoot) config() (*rest.Config, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.present == nil {
		return nil, fmt.Errorf("the API server of %s has not been reached yet", s.namespace)
	}
	return rest.CopyConfig(s.present.Config), nil
}

func (s *shoot) setPresent(a *access) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.present = a
}

// run simulates until the namespace is gone. An API server that is away does not end the simulation.
func (s *shoot) run(ctx context.Context) {
	defer close(s.ended)
	kubelets := newKubelets(s.seed, s.log, s.namespace)
	defer kubelets.stop()
	var now *running
	defer func() { now.stop(s.log, s.namespace) }()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		now = s.follow(ctx, now)
		if now != nil {
			agents := s.syncAgents(ctx, now.client, kubelets)
			if ctx.Err() == nil && !s.isHibernated(ctx, agents) {
				s.log.state(s.namespace, "acting for gardener-node-agent and kubelet", agents)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// follow starts the simulation anew when the way to the API server changes, or when it has ended by itself.
func (s *shoot) follow(ctx context.Context, now *running) *running {
	next, err := s.openAccess(ctx)
	switch {
	case ctx.Err() != nil:
		return now
	case errors.Is(err, errNoShoot):
		if now != nil {
			s.log.linef("%s: has no API server any more", s.namespace)
		}
		s.setPresent(nil)
		now.stop(s.log, s.namespace)
		return nil
	case s.isHibernated(ctx, err):
		return now
	}
	s.log.state(s.namespace, "reaching the API server", err)
	if err != nil || now != nil && next == s.present && !now.hasEnded() {
		return now
	}
	now.stop(s.log, s.namespace)
	started, err := s.start(ctx, next.Config)
	s.log.state(s.namespace, "starting to simulate nodes and pods", err)
	if err != nil {
		return nil
	}
	s.log.linef("%s: simulates nodes and pods by %s", s.namespace, next.name)
	s.setPresent(next)
	return started
}

// isHibernated reports whether a request may have failed because the shoot has no API servers at present.
func (s *shoot) isHibernated(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: s.namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}
	return s.seed.Get(ctx, key, deployment) == nil && deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0
}

func (s *shoot) start(ctx context.Context, config *rest.Config) (*running, error) {
	c, err := client.New(config, client.Options{Scheme: kubernetes.ShootScheme})
	if err != nil {
		return nil, err
	}
	simulated, err := nodes.Start(ctx, config, s.withVersions, nodes.WithCloudControllerManager(), nodes.WithKubeControllerManager(),
		nodes.OnResult(func(err error) { s.log.state(s.namespace, "comparing servers and Nodes", s.unlessHibernated(err)) }))
	if err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	pods, err := workload.Start(starting, config, workload.OnNodes())
	if err != nil {
		simulated.Stop()
		return nil, err
	}
	return &running{client: c, nodes: simulated, pods: pods}, nil
}

func (s *shoot) unlessHibernated(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if s.isHibernated(ctx, err) {
		return nil
	}
	return err
}

// withVersions lists the shoot's servers, with the kubelet's version of the pool that a machine is of.
func (s *shoot) withVersions(ctx context.Context) ([]nodes.Server, error) {
	servers, err := s.servers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range servers {
		if servers[i].KubernetesVersion, err = s.versionOf(ctx, servers[i].Name); err != nil {
			return nil, fmt.Errorf("reading the version of a kubelet: %w", err)
		}
	}
	return servers, nil
}

// versionOf returns the version of a machine's kubelet, which stays that of the pool when the machine was seen first.
func (s *shoot) versionOf(ctx context.Context, name string) (string, error) {
	if version, known := s.versions[name]; known {
		return version, nil
	}
	machine, workers := &machinev1alpha1.Machine{}, &extensionsv1alpha1.WorkerList{}
	if err := s.seed.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, machine); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	if err := s.seed.List(ctx, workers, client.InNamespace(s.namespace)); err != nil {
		return "", err
	}
	version := versionIn(workers.Items, machine.Spec.NodeTemplateSpec.Labels[v1beta1constants.LabelWorkerPool])
	if version != "" {
		s.versions[name] = version
	}
	return version, nil
}

func versionIn(workers []extensionsv1alpha1.Worker, pool string) string {
	for _, worker := range workers {
		for _, p := range worker.Spec.Pools {
			if p.Name == pool && p.KubernetesVersion != nil {
				return *p.KubernetesVersion
			}
		}
	}
	return ""
}

func (r *running) hasEnded() bool {
	select {
	case <-r.pods.Ended():
		return true
	default:
		return false
	}
}

func (r *running) stop(log *journal, namespace string) {
	if r == nil {
		return
	}
	r.nodes.Stop()
	if err := r.pods.Stop(); err != nil {
		log.linef("%s: %v", namespace, err)
	}
}
