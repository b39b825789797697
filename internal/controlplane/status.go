package controlplane

import (
	"encoding/json"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// status is the provider status, for the next reconciliation only. It is not migrated to another seed, where everything is determined again.
type status struct {
	metav1.TypeMeta `json:",inline"`
	// Hibernating is true while the shoot is to be hibernated and gardenlet has not stopped its kube-apiserver yet.
	Hibernating bool `json:"hibernating,omitempty"`
	// CleanedNodeConditions are the stale conditions that were removed from all nodes, as "type/reason".
	CleanedNodeConditions []string `json:"cleanedNodeConditions,omitempty"`
}

const (
	statusVersion = "controlplane.trellis.garden/v1alpha1"
	statusKind    = "ControlPlaneStatus"
)

// statusOf returns the status of the last reconciliation. A status of another controller counts as none.
func statusOf(object *extensionsv1alpha1.ControlPlane) status {
	var previous status
	raw := object.Status.ProviderStatus
	if raw == nil || json.Unmarshal(raw.Raw, &previous) != nil || previous.APIVersion != statusVersion || previous.Kind != statusKind {
		return status{}
	}
	return previous
}

// writeTo writes the status into the object.
func (s status) writeTo(object *extensionsv1alpha1.ControlPlane) error {
	s.TypeMeta = metav1.TypeMeta{APIVersion: statusVersion, Kind: statusKind}
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding provider status: %w", err)
	}
	object.Status.ProviderStatus = &runtime.RawExtension{Raw: raw}
	return nil
}
