package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checkEmpty returns an error that names what the controllers have left in the namespace. They create no other kinds there.
func (s *Shoot) checkEmpty(ctx context.Context) error {
	var left []string
	for _, list := range []client.ObjectList{
		&resourcesv1alpha1.ManagedResourceList{}, &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineSetList{}, &machinev1alpha1.MachineClassList{},
	} {
		if err := s.client.List(ctx, list, client.InNamespace(s.Namespace())); err != nil {
			return err
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			if object, is := item.(client.Object); is {
				left = append(left, fmt.Sprintf("%T %s", item, object.GetName()))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	names, err := s.secrets(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !s.prepared[name] {
			left = append(left, "Secret "+name)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("the controllers have left %s", strings.Join(left, ", "))
	}
	return nil
}

// secrets lists the names of the Secrets of the namespace.
func (s *Shoot) secrets(ctx context.Context) ([]string, error) {
	list := &corev1.SecretList{}
	if err := s.client.List(ctx, list, client.InNamespace(s.Namespace())); err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
