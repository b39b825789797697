package admission

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// expectedCause is an expected error: its path, and a part of its message.
type expectedCause struct{ path, remedy string }

// assertResult compares the response to a write with the expected errors: exactly they are reported, with their paths.
func assertResult(t *testing.T, err error, wantCauses []expectedCause) {
	t.Helper()
	if len(wantCauses) == 0 {
		assert.NoError(t, err)
		return
	}
	if !assert.Error(t, err, "nobody minds") {
		return
	}
	if !assert.True(t, deniedByUs(err), "refused by somebody else: %v", err) {
		return
	}
	status := statusOf(err)
	assert.Equal(t, metav1.StatusReasonInvalid, status.Reason)
	var causes []metav1.StatusCause
	if status.Details != nil {
		causes = status.Details.Causes
	}
	var found, want []string
	for _, cause := range causes {
		found = append(found, cause.Field)
	}
	for _, expected := range wantCauses {
		want = append(want, expected.path)
		assert.True(t, slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
			return cause.Field == expected.path && strings.Contains(cause.Message, expected.remedy)
		}), "%s: nothing about %q in: %v", expected.path, expected.remedy, causes)
	}
	assert.ElementsMatch(t, want, found, "%v", err)
}

func deniedByUs(err error) bool {
	return err != nil && strings.Contains(err.Error(), "denied the request") && strings.Contains(err.Error(), "admission webhook")
}

func statusOf(err error) metav1.Status {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.Status()
	}
	return metav1.Status{}
}

// update writes the changes of a case. It retries conflicts, since Gardener's controllers add finalizers at any time.
func (env *environment) update(t *testing.T, object client.Object, options ...client.UpdateOption) error {
	t.Helper()
	for {
		err := env.Client.Update(t.Context(), object, options...)
		if !apierrors.IsConflict(err) {
			return err
		}
		current := object.DeepCopyObject().(client.Object)
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), current))
		object.SetResourceVersion(current.GetResourceVersion())
		object.SetFinalizers(current.GetFinalizers())
	}
}
