package seed

import (
	"context"
	"errors"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// Option adds something to a seed.
type Option func(*Seed)

// WithControlPlaneKinds adds the CRDs of control planes' components. Nothing implements them.
func WithControlPlaneKinds() Option {
	return func(s *Seed) { s.controlPlaneKinds = true }
}

// WithControlPlaneHosting makes a seed in which control planes run: it has the CRDs of their components, Gardener's priority classes, and
// controllers and simulated kubelets that create pods of Deployments and make them ready. A pod needs its ServiceAccount and its priority class,
// as in any seed.
func WithControlPlaneHosting() Option {
	return func(s *Seed) { s.controlPlaneKinds, s.hosting = true, &hosting{} }
}

// WithControlPlaneHostingLater makes such a seed, in which no pods run before StartHosting.
func WithControlPlaneHostingLater() Option {
	return func(s *Seed) { s.controlPlaneKinds, s.hosting = true, &hosting{later: true} }
}

// WithGardenerSource makes a seed with the CRDs of another release of Gardener, whose source is in the folder dir.
func WithGardenerSource(dir string) Option {
	return func(s *Seed) { s.gardener = dir }
}

// WithAuditOfMetadata makes the audit log one without bodies.
func WithAuditOfMetadata() Option {
	return func(s *Seed) { s.auditPolicy = auditPolicyOfMetadata }
}

// WithRestarts makes KillAPIServer and StartAPIServer possible.
func WithRestarts() Option {
	return func(s *Seed) { s.restarts = true }
}

// hosting runs beside the API server of a seed with control planes.
type hosting struct {
	later       bool // it is not started with the API server
	controllers *process.Process
	kubelets    *workload.Kubelets
}

// StartHosting starts what runs beside the API server of a seed with control planes, from the programs in the folder programs.
func (s *Seed) StartHosting(ctx context.Context, programs string) error {
	return s.hosting.start(ctx, s, programs)
}

// Kubelets are the simulated kubelets of a seed with control planes.
func (s *Seed) Kubelets() *workload.Kubelets { return s.hosting.kubelets }

func (h *hosting) start(ctx context.Context, s *Seed, programs string) error {
	for _, class := range PriorityClasses() {
		if err := s.Client.Create(ctx, class); err != nil {
			return fmt.Errorf("creating Gardener's priority classes: %w", err)
		}
	}
	var err error
	if h.controllers, err = kcm.Start(ctx, programs, s.dir, s.Kubeconfig); err != nil {
		return err
	}
	h.kubelets, err = workload.Start(ctx, s.Config)
	return err
}

func (h *hosting) stop() error {
	var failures []error
	if h.kubelets != nil {
		failures = append(failures, h.kubelets.Stop())
	}
	if h.controllers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		h.controllers.End(ctx)
	}
	return errors.Join(failures...)
}

// PriorityClasses are those that gardenlet creates in a seed (pkg/component/seed/system in Gardener).
func PriorityClasses() []client.Object {
	var classes []client.Object
	for name, value := range map[string]int32{
		v1beta1constants.PriorityClassNameSeedSystem900:        999998900,
		v1beta1constants.PriorityClassNameSeedSystem800:        999998800,
		v1beta1constants.PriorityClassNameSeedSystem700:        999998700,
		v1beta1constants.PriorityClassNameSeedSystem600:        999998600,
		v1beta1constants.PriorityClassNameShootControlPlane500: 999998500,
		v1beta1constants.PriorityClassNameShootControlPlane400: 999998400,
		v1beta1constants.PriorityClassNameShootControlPlane300: 999998300,
		v1beta1constants.PriorityClassNameShootControlPlane200: 999998200,
		v1beta1constants.PriorityClassNameShootControlPlane100: 999998100,
	} {
		classes = append(classes, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	return classes
}
