package workertest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// savedDeployment is gardenlet's saved state of a MachineDeployment.
type savedDeployment struct {
	Replicas    int32                        `json:"replicas,omitempty"`
	MachineSets []machinev1alpha1.MachineSet `json:"machineSets,omitempty"`
	Machines    []machinev1alpha1.Machine    `json:"machines,omitempty"`
}

// saveMachines encodes the machines of a namespace as gardenlet does before a migration. It returns nil if there is nothing to save.
func saveMachines(ctx context.Context, c client.Client, namespace string) (*runtime.RawExtension, error) {
	var deployments machinev1alpha1.MachineDeploymentList
	var sets machinev1alpha1.MachineSetList
	var machines machinev1alpha1.MachineList
	for _, list := range []client.ObjectList{&deployments, &sets, &machines} {
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
	}
	saved := map[string]*savedDeployment{}
	for _, d := range deployments.Items {
		state := &savedDeployment{Replicas: d.Spec.Replicas}
		for _, set := range sets.Items {
			if !ownedBy(&set, "MachineDeployment", &d) {
				continue
			}
			for _, machine := range machines.Items {
				hasServer := machine.Spec.ProviderID != "" || machine.Labels[machinev1alpha1.NodeLabelKey] != ""
				if ownedBy(&machine, "MachineSet", &set) && hasServer {
					machine.ObjectMeta, machine.Status = strippedMeta(machine.ObjectMeta), machinev1alpha1.MachineStatus{}
					state.Machines = append(state.Machines, machine)
				}
			}
			set.ObjectMeta, set.Status = strippedMeta(set.ObjectMeta), machinev1alpha1.MachineSetStatus{}
			state.MachineSets = append(state.MachineSets, set)
		}
		if len(state.MachineSets) > 0 {
			saved[d.Name] = state
		}
	}
	if len(saved) == 0 {
		return nil, nil
	}
	return compressState(map[string]any{"machineDeployments": saved})
}

func strippedMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace, Annotations: meta.Annotations, Labels: meta.Labels}
}

func compressState(state any) (*runtime.RawExtension, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if err := json.NewEncoder(writer).Encode(state); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string][]byte{"state": packed.Bytes()})
	return &runtime.RawExtension{Raw: raw}, err
}

// deleteMachineObjects removes the objects of machines without their finalizers and releases the credentials, as gardenlet does in the
// source seed of a migration.
func deleteMachineObjects(ctx context.Context, c client.Client, namespace string) error {
	var machines machinev1alpha1.MachineList
	var sets machinev1alpha1.MachineSetList
	var deployments machinev1alpha1.MachineDeploymentList
	var classes machinev1alpha1.MachineClassList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&machines, &sets, &deployments, &classes, &secrets} {
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
	}
	var objects []client.Object
	for i := range machines.Items {
		objects = append(objects, &machines.Items[i])
	}
	for i := range sets.Items {
		objects = append(objects, &sets.Items[i])
	}
	for i := range deployments.Items {
		objects = append(objects, &deployments.Items[i])
	}
	for i := range classes.Items {
		objects = append(objects, &classes.Items[i])
	}
	for i := range secrets.Items {
		objects = append(objects, &secrets.Items[i])
	}
	for _, object := range objects {
		if err := deleteWithoutFinalizers(ctx, c, object); err != nil {
			return fmt.Errorf("deleting %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

func deleteWithoutFinalizers(ctx context.Context, c client.Client, object client.Object) error {
	if len(object.GetFinalizers()) > 0 {
		//nolint:forcetypeassert // a deep copy has the type of its original
		before := object.DeepCopyObject().(client.Object)
		object.SetFinalizers(nil)
		if err := c.Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	purpose := object.GetLabels()[v1beta1constants.GardenerPurpose]
	if _, isSecret := object.(*corev1.Secret); isSecret && purpose != v1beta1constants.GardenPurposeMachineClass {
		return nil
	}
	return client.IgnoreNotFound(c.Delete(ctx, object))
}
