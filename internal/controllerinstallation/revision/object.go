package revision

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	namespace = v1beta1constants.GardenNamespace

	// labelDeployment on a ControllerRevision names the ControllerDeployment.
	labelDeployment = installationv1alpha1.GroupName + "/deployment"

	annotationNumber  = installationv1alpha1.GroupName + "/number"
	annotationResult  = installationv1alpha1.GroupName + "/result"
	annotationReason  = installationv1alpha1.GroupName + "/reason"
	annotationSince   = installationv1alpha1.GroupName + "/since"
	annotationSource  = installationv1alpha1.GroupName + "/source"
	annotationOrigin  = installationv1alpha1.GroupName + "/origin"
	annotationMessage = installationv1alpha1.GroupName + "/message"

	// maxReason limits a reason, since the total size of annotations is limited.
	maxReason = 4 << 10
)

// storedRevision is a revision with its API object.
type storedRevision struct {
	Info

	object *metav1.PartialObjectMetadata
}

func kind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("ControllerRevision") }

func keyOf(deployment, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: deployment + "-" + name}
}

// read fails for an object that was not created by a Store.
func read(deployment string, object *metav1.PartialObjectMetadata) (*storedRevision, error) {
	info, err := infoOf(deployment, object)
	if err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s is not as the operator has made it: %w: delete it: the newest is recorded anew, and who has an older one gets the last good one",
			object.Namespace, object.Name, err)
	}
	object.SetGroupVersionKind(kind())
	return &storedRevision{Info: *info, object: object}, nil
}

func infoOf(deployment string, object *metav1.PartialObjectMetadata) (*Info, error) {
	if label := object.Labels[labelDeployment]; label != deployment {
		return nil, fmt.Errorf("label %s is %q instead of %q", labelDeployment, label, deployment)
	}
	name, found := strings.CutPrefix(object.Name, deployment+"-")
	if !found || !isName(name) {
		return nil, fmt.Errorf("its name is not %q and %d hexadecimal digits", deployment+"-", nameLength)
	}
	info := &Info{
		Name:    name,
		Result:  Result(object.Annotations[annotationResult]),
		Reason:  object.Annotations[annotationReason],
		Source:  object.Annotations[annotationSource],
		Origin:  object.Annotations[annotationOrigin],
		Message: object.Annotations[annotationMessage],
	}
	var err error
	if info.Number, err = strconv.ParseInt(object.Annotations[annotationNumber], 10, 64); err != nil || info.Number < 1 {
		return nil, fmt.Errorf("annotation %s is %q instead of a number of at least 1", annotationNumber, object.Annotations[annotationNumber])
	}
	if !info.Result.isValid() {
		return nil, fmt.Errorf("annotation %s is %q instead of %s, %s or %s", annotationResult, info.Result, Candidate, Good, Bad)
	}
	if info.Since, err = time.Parse(time.RFC3339, object.Annotations[annotationSince]); err != nil {
		return nil, fmt.Errorf("annotation %s is %q instead of a time (RFC 3339)", annotationSince, object.Annotations[annotationSince])
	}
	return info, nil
}

func (v Result) isValid() bool { return slices.Contains([]Result{Candidate, Good, Bad}, v) }

func (i Info) annotations() map[string]string {
	annotations := map[string]string{
		annotationNumber:  strconv.FormatInt(i.Number, 10),
		annotationResult:  string(i.Result),
		annotationSince:   i.Since.UTC().Format(time.RFC3339Nano),
		annotationReason:  i.Reason,
		annotationSource:  i.Source,
		annotationOrigin:  i.Origin,
		annotationMessage: i.Message,
	}
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	return annotations
}

// mergePatch returns a merge patch with an optimistic lock that writes the revision to its object; nil if nothing changes. Without an owner, the
// owner references are not changed.
func (k *storedRevision) mergePatch(want Info, owner *metav1.OwnerReference) ([]byte, error) {
	before, after := k.annotations(), want.annotations()
	annotations := map[string]any{}
	for key := range before {
		if _, stays := after[key]; !stays {
			annotations[key] = nil
		}
	}
	for key, value := range after {
		if before[key] != value {
			annotations[key] = value
		}
	}
	metadata := map[string]any{"resourceVersion": k.object.ResourceVersion, "annotations": annotations}
	isOwned := owner == nil || slices.ContainsFunc(k.object.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner.UID })
	if !isOwned {
		metadata["ownerReferences"] = []metav1.OwnerReference{*owner}
	}
	if len(annotations) == 0 && isOwned {
		return nil, nil
	}
	return json.Marshal(map[string]any{"metadata": metadata, "revision": want.Number})
}

func newObject(deployment *gardencorev1.ControllerDeployment, info Info, data []byte) *appsv1.ControllerRevision {
	key := keyOf(deployment.Name, info.Name)
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels:          map[string]string{labelDeployment: deployment.Name},
			Annotations:     info.annotations(),
			OwnerReferences: []metav1.OwnerReference{ownerOf(deployment.Name, deployment.UID)},
		},
		Revision: info.Number,
	}
	object.Data.Raw = data
	return object
}

func ownerOf(deployment string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: gardencorev1.SchemeGroupVersion.String(), Kind: "ControllerDeployment", Name: deployment, UID: uid, BlockOwnerDeletion: new(false),
	}
}
