package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkerConfig is the user's configuration of one worker pool (Shoot.spec.provider.workers[].providerConfig,
// Worker.spec.pools[].providerConfig).
//
// +kubebuilder:object:root=true
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Group puts the pool's machines into a group of their own. Changing it rolls the nodes.
	// +optional
	Group bool `json:"group,omitempty"`
	// Feature gives the pool's machines a feature that another extension for the same type ignores: machines which that extension has created
	// get it when they are replaced. Otherwise changing it rolls the nodes.
	// +optional
	Feature bool `json:"feature,omitempty"`
}

// WorkerStatus is what the Worker controller records about a Worker (Worker.status.providerStatus).
//
// +kubebuilder:object:root=true
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Groups are the IDs of the pools' groups, by the name of the pool.
	// +optional
	Groups map[string]string `json:"groups,omitempty"`
}
