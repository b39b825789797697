// Package machinedriver creates and deletes machines by a machine driver alone: it makes the calls that the library of machine-controller-manager makes,
// without the library's own waits. It needs no Machines, and knows nothing of clouds: a subpackage for each provider composes its driver.
package machinedriver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Class is the class of a pool's machines, as a worker-controller has written it, with the data of its secrets.
type Class struct {
	object *machinev1alpha1.MachineClass
	secret *corev1.Secret
}

// ReadClass reads the class of the only pool in a shoot's namespace of a seed.
func ReadClass(ctx context.Context, seed client.Client, namespace string) (Class, error) {
	classes := &machinev1alpha1.MachineClassList{}
	if err := seed.List(ctx, classes, client.InNamespace(namespace)); err != nil {
		return Class{}, fmt.Errorf("listing machine classes: %w", err)
	}
	if len(classes.Items) != 1 {
		return Class{}, fmt.Errorf("namespace %s has %d machine classes, not one", namespace, len(classes.Items))
	}
	class := Class{object: &classes.Items[0], secret: &corev1.Secret{Data: map[string][]byte{}}}
	for _, reference := range []*corev1.SecretReference{class.object.SecretRef, class.object.CredentialsSecretRef} {
		if reference == nil {
			continue
		}
		secret := &corev1.Secret{}
		if err := seed.Get(ctx, client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}, secret); err != nil {
			return Class{}, fmt.Errorf("reading a secret of machine class %s: %w", class.object.Name, err)
		}
		maps.Copy(class.secret.Data, secret.Data)
	}
	return class, nil
}

// Machines are machines of one class, which exist in the cloud only.
type Machines struct {
	driver  driver.Driver
	class   Class
	atOnce  int
	objects []*machinev1alpha1.Machine
}

// New returns a number of machines that do not exist yet. At most atOnce of them are created or deleted at a time.
func New(by driver.Driver, class Class, number, atOnce int) *Machines {
	m := &Machines{driver: by, class: class, atOnce: atOnce}
	for i := range number {
		name := fmt.Sprintf("%s-%05d", class.object.Name, i)
		m.objects = append(m.objects, &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: class.object.Namespace, Name: name, UID: types.UID(name)}})
	}
	return m
}

// Create creates all machines: it asks for the status of each, and for its creation if that is not found, then for its initialization, and for the status again.
func (m *Machines) Create(ctx context.Context) error {
	return m.each(ctx, func(ctx context.Context, object *machinev1alpha1.Machine) error {
		_, err := m.driver.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: object, MachineClass: m.class.object, Secret: m.class.secret})
		if err == nil {
			return errors.New("it exists")
		}
		if decoded, _ := status.FromError(err); decoded.Code() != codes.NotFound {
			return err
		}
		created, err := m.driver.CreateMachine(ctx, &driver.CreateMachineRequest{Machine: object, MachineClass: m.class.object, Secret: m.class.secret})
		if err != nil {
			return err
		}
		object.Spec.ProviderID = created.ProviderID
		_, err = m.driver.InitializeMachine(ctx, &driver.InitializeMachineRequest{Machine: object, MachineClass: m.class.object, Secret: m.class.secret})
		if decoded, _ := status.FromError(err); err != nil && decoded.Code() != codes.Unimplemented {
			return err
		}
		_, err = m.driver.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: object, MachineClass: m.class.object, Secret: m.class.secret})
		return err
	})
}

// Delete deletes all machines.
func (m *Machines) Delete(ctx context.Context) error {
	return m.each(ctx, func(ctx context.Context, object *machinev1alpha1.Machine) error {
		object.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		_, err := m.driver.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: object, MachineClass: m.class.object, Secret: m.class.secret})
		if err == nil {
			object.DeletionTimestamp, object.Spec.ProviderID = nil, "" // it can be created again
		}
		return err
	})
}

func (m *Machines) each(ctx context.Context, do func(context.Context, *machinev1alpha1.Machine) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(m.atOnce)
	for _, object := range m.objects {
		group.Go(func() error {
			if err := do(ctx, object); err != nil {
				return fmt.Errorf("machine %s: %w", object.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}
