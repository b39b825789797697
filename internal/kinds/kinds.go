// Package kinds registers single API types in a scheme. A process that registers whole API groups keeps hundreds of types in memory that it never uses.
// The package must not know any type.
package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// In returns a function that registers the types of the objects in a scheme, and what requests for a group and version need besides.
func In(version schema.GroupVersion, objects ...runtime.Object) func(*runtime.Scheme) error {
	return func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(version, objects...)
		metav1.AddToGroupVersion(scheme, version)
		return nil
	}
}
