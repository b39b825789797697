package inspect

import (
	"cmp"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// extensionObject is what all extension objects have, whatever their kind.
type extensionObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   extensionsv1alpha1.DefaultSpec   `json:"spec"`
	Status extensionsv1alpha1.DefaultStatus `json:"status"`
}

// objectOf returns what the object itself says. Its state is not set yet.
func objectOf(from *extensionObject, now time.Time) Object {
	object := Object{
		Kind: from.Kind, Name: from.Name, Type: text(from.Spec.Type), DeletedAt: timeOf(from.DeletionTimestamp), Request: requestOf(from, now),
	}
	if last := from.Status.LastOperation; last != nil {
		object.LastOperation = &Operation{
			Type: text(string(last.Type)), State: text(string(last.State)), Progress: last.Progress, Description: text(last.Description), At: last.LastUpdateTime.UTC(),
		}
	}
	if last := from.Status.LastError; last != nil {
		object.LastError = &Error{Description: text(last.Description), Codes: codesOf(last.Codes), At: timeOf(last.LastUpdateTime)}
	}
	for _, condition := range from.Status.Conditions {
		object.Conditions = append(object.Conditions, Condition{
			Type: text(string(condition.Type)), Status: text(string(condition.Status)), Reason: text(condition.Reason), Message: text(condition.Message),
			Codes: codesOf(condition.Codes), Since: condition.LastTransitionTime.UTC(),
		})
	}
	slices.SortStableFunc(object.Conditions, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(rank(a.state()), rank(b.state())), cmp.Compare(a.Type, b.Type))
	})
	return object
}

// rank orders states by severity.
func rank(state State) int {
	return slices.Index([]State{StateUnhealthy, StateProgressing, StateHealthy}, state)
}

func recordedOf(from *extensionObject) Recorded {
	return Recorded{Config: rawOf(from.Spec.ProviderConfig), Status: rawOf(from.Status.ProviderStatus), State: rawOf(from.Status.State)}
}

func rawOf(extension *runtime.RawExtension) []byte {
	if extension == nil {
		return nil
	}
	return extension.Raw
}

// text returns a text of others on one line, without terminal escapes.
func text(foreign string) string { return truncate.Line(foreign, truncate.MaxStatus) }

func codesOf(codes []gardencorev1beta1.ErrorCode) []string {
	var texts []string
	for _, code := range codes {
		texts = append(texts, text(string(code)))
	}
	return texts
}

func timeOf(at *metav1.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC())
}
