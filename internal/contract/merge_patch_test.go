package contract

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestMergePatch(t *testing.T) {
	for sentence, test := range map[string]struct{ before, after, want string }{
		"equal objects need no patch":                          {`{"a":1}`, `{"a":1}`, ``},
		"the order of keys means nothing":                      {`{"a":{"b":1,"c":2}}`, `{"a":{"c":2,"b":1}}`, ``},
		"spaces mean nothing":                                  {`{"a":[1, 2]}`, `{"a":[1,2]}`, ``},
		"the order of keys in items means nothing":             {`{"a":[{"b":1,"c":2}]}`, `{"a":[{"c":2,"b":1}]}`, ``},
		"the order of items means something":                   {`{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[2,1]}`},
		"a new field is written":                               {`{"a":1}`, `{"a":1,"b":{"c":2}}`, `{"b":{"c":2}}`},
		"a field that is gone is written as null":              {`{"a":1,"b":2}`, `{"a":1}`, `{"b":null}`},
		"of an object only the fields that differ":             {`{"a":{"b":1,"c":{"d":1,"e":2}}}`, `{"a":{"b":1,"c":{"d":3,"e":2}}}`, `{"a":{"c":{"d":3}}}`},
		"a field that is gone from an object":                  {`{"a":{"b":1,"c":2}}`, `{"a":{"b":1}}`, `{"a":{"c":null}}`},
		"a list is written whole":                              {`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`, `{"a":[{"b":1},{"b":3}]}`},
		"an object that becomes something else is replaced":    {`{"a":{"b":1}}`, `{"a":"b"}`, `{"a":"b"}`},
		"a value that becomes an object is replaced":           {`{"a":1}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"numbers that no float64 tells apart are not the same": {`{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":9007199254740993}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			patch, err := mergePatch(json.RawMessage(test.before), json.RawMessage(test.after))
			require.NoError(t, err)
			if test.want == "" {
				assert.Nil(t, patch)
				return
			}
			assert.JSONEq(t, test.want, string(patch))
		})
	}
}

func TestMergePatch_Status(t *testing.T) {
	before := &extensionsv1alpha1.InfrastructureStatus{DefaultStatus: extensionsv1alpha1.DefaultStatus{
		LastOperation: &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateProcessing},
		LastError:     &gardencorev1beta1.LastError{Description: "no"},
		State:         &runtime.RawExtension{Raw: []byte(`{"b":1,"a":2}`)},
	}}
	after := before.DeepCopy()
	after.LastError = nil
	after.LastOperation.State = gardencorev1beta1.LastOperationStateSucceeded
	after.State.Raw = []byte(`{"a":2,"b":1}`)
	after.EgressCIDRs = []string{"192.0.2.1/32"}
	patch, err := mergePatch(before, after)
	require.NoError(t, err)
	assert.JSONEq(t, `{"lastOperation":{"state":"Succeeded"},"lastError":null,"egressCIDRs":["192.0.2.1/32"]}`, string(patch))
}

func TestMergePatch_StateThatDoesNotEncode(t *testing.T) {
	broken := &extensionsv1alpha1.InfrastructureStatus{}
	broken.State = &runtime.RawExtension{Raw: []byte(`{`)}
	_, err := mergePatch(&extensionsv1alpha1.InfrastructureStatus{}, broken)
	assert.Error(t, err)
}
