package csi

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/definitions"
)

//go:generate crds/generate.sh
//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CRDs of the snapshot controller and the snapshotters. They include version v1beta1, which is not served: a shoot in which it was stored
// needs it.
func CRDs() ([]*unstructured.Unstructured, error) { return definitions.Read(crdFiles, "crds") }
