package aws

import (
	"context"
	"encoding/json"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Type is the type of Workers that the driver reconciles.
const Type = "aws"

// Driver reconciles Workers of type aws. It is an Observer as well, since it makes no requests.
type Driver struct{}

var (
	_ worker.Driver   = (*Driver)(nil)
	_ worker.Observer = (*Driver)(nil)
)

// New returns a driver.
func New() *Driver { return &Driver{} }

// Prepare implements worker.Driver. It records the images in use: there is nothing to create.
func (d *Driver) Prepare(_ context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	return d.Foresee(shoot)
}

// Foresee implements worker.Observer. The status is exactly that of Prepare.
func (d *Driver) Foresee(shoot *worker.Shoot) (runtime.Object, error) {
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	recorded, err := awsv1alpha1.DecodeWorkerStatus(shoot.Worker.Status.ProviderStatus)
	if err != nil {
		return nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	var plans []*plan
	for i := range shoot.Worker.Spec.Pools {
		plan, err := in.planOf(&shoot.Worker.Spec.Pools[i], recorded)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	status := awsv1alpha1.NewWorkerStatus()
	status.MachineImages = imagesOf(plans)
	return status, nil
}

// Machines implements worker.Driver and worker.Observer. In a deletion, invalid inputs are accepted: only the tags of the class matter then.
func (d *Driver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil && !shoot.Deleting {
		return nil, err
	}
	recorded, err := decodeStatus(status)
	if err != nil {
		return nil, err
	}
	plan, err := in.planOf(pool, recorded)
	if err != nil {
		return nil, err
	}
	return plan.machines()
}

// Cleanup implements worker.Driver. There is nothing to delete: it returns the status as it is, in a deletion an empty one.
func (d *Driver) Cleanup(_ context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	if shoot.Deleting {
		return awsv1alpha1.NewWorkerStatus(), nil
	}
	return decodeStatus(status)
}

// decodeStatus decodes a status that is our own, or a recorded one. There may be none.
func decodeStatus(status runtime.Object) (*awsv1alpha1.WorkerStatus, error) {
	if typed, ok := status.(*awsv1alpha1.WorkerStatus); ok && typed != nil {
		return typed, nil
	}
	var raw *runtime.RawExtension
	if status != nil {
		data, err := json.Marshal(status)
		if err != nil {
			return nil, fmt.Errorf("reading the providerStatus: %w", err)
		}
		raw = &runtime.RawExtension{Raw: data}
	}
	decoded, err := awsv1alpha1.DecodeWorkerStatus(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	return decoded, nil
}
