package fleet

import (
	"context"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kind is a kind of extension objects.
type kind struct {
	name string
	// controller is the name of the controller in metrics.
	controller string
	new        func() extensionsv1alpha1.Object
	// conditions are those that tell that all of its components are healthy.
	conditions []gardencorev1beta1.ConditionType
}

func infrastructure() kind {
	return kind{name: "Infrastructure", controller: "infrastructure", new: func() extensionsv1alpha1.Object { return &extensionsv1alpha1.Infrastructure{} }}
}

// kinds lists the kinds in the order of their creation.
func kinds() []kind {
	return []kind{
		infrastructure(),
		{
			name: "ControlPlane", controller: "controlplane", new: func() extensionsv1alpha1.Object { return &extensionsv1alpha1.ControlPlane{} },
			conditions: []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootControlPlaneHealthy, gardencorev1beta1.ShootSystemComponentsHealthy},
		},
		{
			name: "Network", controller: "network", new: func() extensionsv1alpha1.Object { return &extensionsv1alpha1.Network{} },
			conditions: []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy},
		},
		{
			name: "Worker", controller: "worker", new: func() extensionsv1alpha1.Object { return &extensionsv1alpha1.Worker{} },
			conditions: []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootEveryNodeReady},
		},
	}
}

// read reads a shoot's object of a kind.
func (k kind) read(ctx context.Context, reader client.Reader, key client.ObjectKey) (extensionsv1alpha1.Object, error) {
	object := k.new()
	if err := reader.Get(ctx, key, object); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", k.name, key.Name, err)
	}
	return object, nil
}

// ready returns an error if the last request has not succeeded, by gardenlet's own rules. A request since is the least that must have been seen.
func (k kind) ready(object extensionsv1alpha1.Object, since time.Time) error {
	requested := requestedAt(object)
	if requested.Before(since) {
		return fmt.Errorf("%s of %s: the request was not seen yet", k.name, object.GetName())
	}
	if err := health.CheckExtensionObject(object); err != nil {
		return fmt.Errorf("%s of %s: %w", k.name, object.GetName(), err)
	}
	last := object.GetExtensionStatus().GetLastOperation()
	if last.LastUpdateTime.Time.Before(requested.Truncate(time.Second)) {
		return fmt.Errorf("%s of %s: the request is newer than the last operation", k.name, object.GetName())
	}
	return nil
}

// healthy returns an error if a condition is missing or not True.
func (k kind) healthy(object extensionsv1alpha1.Object) error {
	for _, wanted := range k.conditions {
		status, message := gardencorev1beta1.ConditionUnknown, "it was not written yet"
		for _, condition := range object.GetExtensionStatus().GetConditions() {
			if condition.Type == wanted {
				status, message = condition.Status, condition.Message
			}
		}
		if status != gardencorev1beta1.ConditionTrue {
			return fmt.Errorf("%s of %s: condition %s is %s: %s", k.name, object.GetName(), wanted, status, message)
		}
	}
	return nil
}

// requestedAt is the time of gardenlet's last request, zero if there was none.
func requestedAt(object client.Object) time.Time {
	at, err := time.Parse(time.RFC3339Nano, object.GetAnnotations()[v1beta1constants.GardenerTimestamp])
	if err != nil {
		return time.Time{}
	}
	return at
}
