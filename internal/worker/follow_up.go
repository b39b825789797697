package worker

import (
	"context"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// annotationInPlaceHash on the MachineDeployments of a pool with manual updates is the hash that the Worker's status gets when the last
// machine is updated.
const annotationInPlaceHash = "worker.trellis.garden/in-place-hash"

// annotateInPlaceHashes stores the hashes, so that the follow-up needs no inputs of them.
func annotateInPlaceHashes(shoot *Shoot, wanted []deployment) error {
	hashes := map[string]string{}
	for i := range shoot.Worker.Spec.Pools {
		p := &shoot.Worker.Spec.Pools[i]
		if !v1beta1helper.IsUpdateStrategyManualInPlace(p.UpdateStrategy) {
			continue
		}
		hash, err := inPlaceHash(p, shoot.Cluster.Shoot)
		if err != nil {
			return err
		}
		hashes[p.Name] = hash
	}
	for _, d := range wanted {
		// An empty value removes the annotation.
		metav1.SetMetaDataAnnotation(&d.object.ObjectMeta, annotationInPlaceHash, hashes[d.pool])
	}
	return nil
}

// hasManualPools reports whether the object has a pool with manual updates. There is no request when users have updated the last machine,
// and gardenlet waits until that is recorded.
func hasManualPools(object *extensionsv1alpha1.Worker) bool {
	for i := range object.Spec.Pools {
		if v1beta1helper.IsUpdateStrategyManualInPlace(object.Spec.Pools[i].UpdateStrategy) {
			return true
		}
	}
	return false
}

// updatesToRecord reports whether users have updated the last machine of such a pool and the status does not have its hash.
func updatesToRecord(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.Worker) (bool, error) {
	var deployments machinev1alpha1.MachineDeploymentList
	var sets machinev1alpha1.MachineSetList
	for _, list := range []client.ObjectList{&deployments, &sets} {
		if err := reader.List(ctx, list, client.InNamespace(object.Namespace)); err != nil {
			return false, err
		}
	}
	now := machinestatus.Observed{Deployments: deployments.Items, Sets: sets.Items}
	var recorded map[string]string
	if object.Status.InPlaceUpdates != nil {
		recorded = object.Status.InPlaceUpdates.WorkerPoolToHashMap
	}
	for i := range object.Spec.Pools {
		p := &object.Spec.Pools[i]
		hash := annotatedHash(p.Name, now.Deployments)
		if hash != "" && hash != recorded[p.Name] && !machinestatus.UpdatePending(p, now) {
			return true, nil
		}
	}
	return false, nil
}

func annotatedHash(pool string, deployments []machinev1alpha1.MachineDeployment) string {
	for i := range deployments {
		if deployments[i].Labels[v1beta1constants.LabelWorkerPool] == pool {
			return deployments[i].Annotations[annotationInPlaceHash]
		}
	}
	return ""
}
