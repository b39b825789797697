package contract

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is the decoded Cluster resource of a shoot's namespace.
type Cluster struct {
	metav1.ObjectMeta
	Shoot        *gardencorev1beta1.Shoot
	CloudProfile *gardencorev1beta1.CloudProfile
	// Seed is nil for self-hosted shoots.
	Seed *gardencorev1beta1.Seed
}
