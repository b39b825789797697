package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	// slow is the duration of a call of the cloud while a controller is to be caught at work.
	slow = 10 * time.Second
	// catchLimit bounds how long it takes until it is at work.
	catchLimit = 3 * time.Minute
	// outage is how long the cloud fails.
	outage = 2 * time.Minute
	// nextTag is the image tag of the other version of a controller.
	nextTag = "next"
)

func stepsOfFaults() []Step {
	return []Step{
		{
			Name: "controller-upgrade", Sentence: "infrastructure-controller is upgraded in the middle of a reconciliation", alone: true, limit: changeLimit,
			do: upgradeController, without: checkSet{checkCalls}, // a session of the new process is cold, and the reconciliation begins anew
			expected: []expectedError{{Text: "context canceled", Reason: "the old process ends in the middle of a reconciliation"}},
		},
		{
			Name: "controller-kill", Sentence: "worker-controller is killed in the middle of a reconciliation", alone: true, limit: changeLimit,
			do: killController, without: checkSet{checkCalls},
			expected: []expectedError{{Text: "context canceled", Reason: "the old process ends in the middle of a reconciliation"}},
		},
		{
			Name: "cloud-outage", Sentence: "the cloud answers 503 for two minutes, in which the pool shrinks to one machine", alone: true, limit: rollLimit,
			do: failCloud, without: checkSet{checkCalls}, // what fails is tried again
			expected: []expectedError{{Text: "503", Reason: "the cloud fails in this step"}, {Text: "Unavailable", Reason: "the cloud fails in this step"}},
		},
	}
}

// catch waits until an extension object of the main Shoot is at work.
func (r *run) catch(ctx context.Context, kind string) error {
	ctx, cancel := context.WithTimeout(ctx, catchLimit)
	defer cancel()
	begin := r.now()
	return r.await(ctx, kind+" to be at work", func(context.Context) (string, error) {
		for _, sample := range slices.Backward(r.recorder.Samples()) {
			if sample.Time.Before(begin) {
				break
			}
			if sample.Kind == kind && sample.Namespace == r.main.technicalID() && sample.State == timeline.Processing {
				return "", nil
			}
		}
		return "", errors.New("it is not at work")
	})
}

// upgradeController requests a reconciliation from a slow cloud, and deploys another version meanwhile.
func upgradeController(ctx context.Context, r *run) error {
	r.Cloud.SetLatency(slow)
	defer r.Cloud.SetLatency(0)
	begin := r.now()
	if err := r.request(ctx, r.main, v1beta1constants.GardenerOperationReconcile); err != nil {
		return err
	}
	if err := r.catch(ctx, "Infrastructure"); err != nil {
		return err
	}
	if err := r.upgrade(ctx, "infrastructure"); err != nil {
		return err
	}
	if err := r.awaitStart(ctx, openstack.InfrastructureController, begin); err != nil {
		return err
	}
	r.Cloud.SetLatency(0)
	return r.awaitSettled(ctx, r.main)
}

// upgrade gives the controller of a registration another image tag, as an admin does. Programs here do not depend on tags.
func (r *run) upgrade(ctx context.Context, registration string) error {
	deployment := &gardencorev1.ControllerDeployment{}
	if err := r.garden.Get(ctx, client.ObjectKey{Name: registration}, deployment); err != nil {
		return fmt.Errorf("reading the ControllerDeployment of %s: %w", registration, err)
	}
	if deployment.Helm == nil {
		return fmt.Errorf("ControllerDeployment %s has no chart", registration)
	}
	values := map[string]any{}
	if deployment.Helm.Values != nil {
		if err := json.Unmarshal(deployment.Helm.Values.Raw, &values); err != nil {
			return fmt.Errorf("decoding the values of ControllerDeployment %s: %w", registration, err)
		}
	}
	patch := client.MergeFrom(deployment.DeepCopy())
	values["image"] = map[string]any{"tag": nextTag}
	encoded, err := json.Marshal(values)
	if err != nil {
		return err
	}
	deployment.Helm.Values = &apiextensionsv1.JSON{Raw: encoded}
	if err := r.garden.Patch(ctx, deployment, patch); err != nil {
		return fmt.Errorf("upgrading %s: %w", registration, err)
	}
	return nil
}

// killController kills worker-controller while it waits for two new machines.
func killController(ctx context.Context, r *run) error {
	begin := r.now()
	if err := r.change(ctx, r.main, func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.Workers[0].Minimum, shoot.Spec.Provider.Workers[0].Maximum = 3, 3
	}); err != nil {
		return err
	}
	if err := r.catch(ctx, "Worker"); err != nil {
		return err
	}
	killed := 0
	for _, s := range r.seeds {
		list := &corev1.PodList{}
		if err := s.client.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			if programOf(&list.Items[i]) != openstack.WorkerController {
				continue
			}
			killed++
			if err := client.IgnoreNotFound(s.client.Delete(ctx, &list.Items[i], client.GracePeriodSeconds(0))); err != nil {
				return fmt.Errorf("killing worker-controller: %w", err)
			}
		}
	}
	if killed == 0 {
		return errors.New("there is no pod of worker-controller")
	}
	if err := r.awaitStart(ctx, openstack.WorkerController, begin); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	return r.awaitNodes(ctx, 3)
}

// awaitStart waits until a program has started again.
func (r *run) awaitStart(ctx context.Context, program string, since time.Time) error {
	return r.await(ctx, program+" to start", func(context.Context) (string, error) {
		if r.pods.started(since, r.now())[program] == 0 {
			return "", errors.New("it has not started")
		}
		return "", nil
	})
}

// failCloud makes the cloud fail while the pool shrinks, and waits until all has recovered without help.
func failCloud(ctx context.Context, r *run) error {
	applied := r.Cloud.Inject(wire.Fault{Times: -1, Status: http.StatusServiceUnavailable})
	defer r.Cloud.ClearFaults()
	if err := r.change(ctx, r.main, func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.Workers[0].Minimum, shoot.Spec.Provider.Workers[0].Maximum = 1, 1
	}); err != nil {
		return err
	}
	end := r.now().Add(outage)
	told := ""
	if err := r.await(ctx, "the end of the cloud's outage", func(ctx context.Context) (string, error) {
		if found, err := r.get(ctx, r.main); err == nil {
			for _, last := range found.Status.LastErrors {
				told = strings.Join(strings.Fields(last.Description), " ")
			}
		}
		if r.now().Before(end) {
			return told, errors.New("it is not over")
		}
		return "", nil
	}); err != nil {
		return err
	}
	r.Cloud.ClearFaults()
	if applied() == 0 {
		return errors.New("nobody called the cloud while it failed")
	}
	r.linef("    the cloud has failed %d calls; the Shoot's last error: %s", applied(), told)
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	return r.awaitNodes(ctx, 1)
}
