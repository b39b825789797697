//go:build kind

package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// requests are repeated requests for which the API server calls a webhook.
type requests struct {
	stop context.CancelFunc
	done sync.WaitGroup

	lock     sync.Mutex
	made     int
	failures []string
}

// sendRequests creates and updates gardenlet's Deployment of machine-controller-manager for two shoots repeatedly, as dry runs.
func (env *environment) sendRequests(t *testing.T, created, updated *kindseed.Shoot) *requests {
	t.Helper()
	existing := machineControllerManager(updated)
	require.NoError(t, env.Client.Create(t.Context(), existing))
	require.NoError(t, requireSidecar(existing))
	ctx, cancel := context.WithCancel(t.Context())
	r := &requests{stop: cancel}
	t.Cleanup(func() { r.end() })
	r.every(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		deployment := machineControllerManager(created)
		if err := env.Client.Create(ctx, deployment, client.DryRunAll); err != nil {
			return fmt.Errorf("creating: %w", err)
		}
		return requireSidecar(deployment)
	})
	r.every(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		// Without the sidecar, as gardenlet does.
		changed := existing.DeepCopy()
		changed.Spec.Template.Spec.Containers = machineControllerManager(updated).Spec.Template.Spec.Containers
		if err := env.Client.Patch(ctx, changed, client.MergeFrom(existing), client.DryRunAll); err != nil {
			return fmt.Errorf("updating: %w", err)
		}
		return requireSidecar(changed)
	})
	return r
}

// every calls a function at an interval.
func (r *requests) every(ctx context.Context, interval time.Duration, do func(context.Context) error) {
	r.done.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			start := time.Now()
			err := do(ctx)
			if ctx.Err() == nil {
				r.note(start, err)
			}
		}
	})
}

func (r *requests) note(start time.Time, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.made++
	if err != nil {
		r.failures = append(r.failures, fmt.Sprintf("%s, after %s: %s", start.Format(time.TimeOnly), time.Since(start), err))
	}
}

// end stops it and returns the number of requests, and the failures.
func (r *requests) end() (int, []string) {
	r.stop()
	r.done.Wait()
	return r.made, r.failures
}

func requireSidecar(deployment *appsv1.Deployment) error {
	if !slices.ContainsFunc(deployment.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == openstack.MachineController
	}) {
		return errors.New("nobody has put the machine controller beside machine-controller-manager")
	}
	return nil
}

// machineControllerManager is a Deployment without replicas, with the fields that webhooks read.
func machineControllerManager(shoot *kindseed.Shoot) *appsv1.Deployment {
	labels := map[string]string{
		v1beta1constants.LabelApp: v1beta1constants.LabelKubernetes, v1beta1constants.LabelRole: v1beta1constants.DeploymentNameMachineControllerManager,
		v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true",
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: v1beta1constants.DeploymentNameMachineControllerManager, Namespace: shoot.Namespace(), Labels: labels,
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: v1beta1constants.DeploymentNameMachineControllerManager, Image: "localhost/standin:e2e",
					Command: []string{"./machine-controller-manager", "--control-kubeconfig=inClusterConfig", "--target-kubeconfig=/var/run/kubeconfig"},
				}}},
			},
		},
	}
}
