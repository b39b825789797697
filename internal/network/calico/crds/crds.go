// Package crds holds the custom resource definitions of Calico and Multus.
//
// Calico's are those of an older release than the one that runs (see generate.sh), with schemas opened for the fields of newer releases and with the
// kinds that were added later. The package must not know which of them a shoot gets, nor any setting.
package crds

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/definitions"
)

//go:generate ./generate.sh
//go:embed *.yaml
var files embed.FS

// Calico returns the definitions of Calico's kinds and of those of Kubernetes that Calico enforces, sorted by name. Each call decodes them again, so
// that callers may change the result.
func Calico() ([]*unstructured.Unstructured, error) {
	released, err := definitions.Read(files, ".")
	if err != nil {
		return nil, err
	}
	for _, definition := range released {
		if err := preserveUnknownFields(definition); err != nil {
			return nil, fmt.Errorf("opening %s for newer fields: %w", definition.GetName(), err)
		}
	}
	all := slices.Concat(released, definitionsOf(newerKinds()))
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, nil
}

// Multus returns the definition of the networks that pods are attached to in addition to Calico's. It is kept: users may enable Multus again.
func Multus() ([]*unstructured.Unstructured, error) {
	all := definitionsOf(multusKinds())
	definitions.Keep(all)
	return all, nil
}
