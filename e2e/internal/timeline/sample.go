package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kinds with a meaning of their own.
const (
	KindShoot             = "Shoot"
	KindMachineDeployment = "MachineDeployment"
	KindMachine           = "Machine"
	KindManagedResource   = "ManagedResource"
	KindInstallation      = "ControllerInstallation"
	// KindWait is that of gardenlet's tasks that wait, see Waits.
	KindWait = "Wait"
)

// newSample reads what an object does.
func newSample(cluster string, object *unstructured.Unstructured, now time.Time) Sample {
	sample := Sample{Time: now, State: Settled, Object: Object{
		Cluster: cluster, Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
	}}
	switch object.GetKind() {
	case KindMachineDeployment:
		readReplicas(&sample, object)
	case KindMachine:
		readPhase(&sample, object)
	case KindManagedResource, KindInstallation:
		readConditions(&sample, object)
	default:
		readLastOperation(&sample, object)
	}
	if sample.State == Settled && object.GetDeletionTimestamp() != nil {
		sample.State = Processing
	}
	return sample
}

func readLastOperation(sample *Sample, object *unstructured.Unstructured) {
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(object.Object, "status", "lastOperation", field)
		return value
	}
	sample.Operation, sample.Description = text("type"), oneLine(text("description"))
	switch gardencorev1beta1.LastOperationState(text("state")) {
	case gardencorev1beta1.LastOperationStateSucceeded:
		sample.State = Settled
	case gardencorev1beta1.LastOperationStateError, gardencorev1beta1.LastOperationStateFailed, gardencorev1beta1.LastOperationStateAborted:
		sample.State = Failing
	default:
		sample.State = Processing
	}
	_, requested := object.GetAnnotations()[v1beta1constants.GardenerOperation]
	if requested && sample.State != Processing {
		sample.State = Requested
	}
}

func readReplicas(sample *Sample, object *unstructured.Unstructured) {
	number := func(fields ...string) int64 {
		value, _, _ := unstructured.NestedInt64(object.Object, fields...)
		return value
	}
	wanted, ready, updated := number("spec", "replicas"), number("status", "readyReplicas"), number("status", "updatedReplicas")
	sample.Description = fmt.Sprintf("%d of %d machines ready, %d updated", ready, wanted, updated)
	if ready != wanted || updated != wanted || number("status", "replicas") != wanted {
		sample.State = Processing
	}
}

func readPhase(sample *Sample, object *unstructured.Unstructured) {
	sample.Description, _, _ = unstructured.NestedString(object.Object, "status", "currentStatus", "phase")
	switch sample.Description {
	case "Running":
	case "Failed", "CrashLoopBackOff", "Unknown":
		sample.State = Failing
	default:
		sample.State = Processing
	}
}

// readConditions reads the conditions of ManagedResources and ControllerInstallations. The one that says that something is under way is true while
// it is.
func readConditions(sample *Sample, object *unstructured.Unstructured) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	if len(list) == 0 {
		sample.State = Processing
	}
	var told []string
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(field string) string { value, _ := fields[field].(string); return value }
		about, status := text("type"), text("status")
		if about == "Required" || (status == "True") != strings.HasSuffix(about, "Progressing") {
			continue
		}
		sample.State = Processing
		told = append(told, cmp.Or(strings.TrimSpace(about+" "+status+": "+oneLine(text("message"))), about))
	}
	slices.Sort(told)
	sample.Description = strings.Join(told, "; ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
