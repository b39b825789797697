package v1alpha1_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// requireEveryField requires that all fields of a document are set, so that a test of all fields omits none.
func requireEveryField(t *testing.T, document any) {
	t.Helper()
	requireFilled(t, reflect.ValueOf(document), "")
}

func requireFilled(t *testing.T, value reflect.Value, path string) {
	t.Helper()
	switch value.Kind() {
	case reflect.Pointer:
		require.False(t, value.IsNil(), "%s is not there", path)
		requireFilled(t, value.Elem(), path)
	case reflect.Slice:
		require.NotZero(t, value.Len(), "%s is empty", path)
		if value.Type().Elem().Kind() != reflect.Uint8 {
			requireFilled(t, value.Index(0), path+"[0]")
		}
	case reflect.Struct:
		switch value.Interface().(type) {
		case metav1.Duration, metav1.Time, metav1.LabelSelector, intstr.IntOrString, runtime.RawExtension:
			return
		}
		for field, inner := range value.Fields() {
			requireFilled(t, inner, strings.TrimPrefix(path+"."+field.Name, "."))
		}
	case reflect.String, reflect.Bool:
		require.False(t, value.IsZero(), "%s says nothing", path)
	default:
		// Any number says something.
	}
}
