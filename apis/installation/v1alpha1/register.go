package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "installation.trellis.garden"

// DeploymentType is the type of the ControllerDeployments that the operator manages.
const DeploymentType = "trellis"

// The annotations of Gardener's objects.
const (
	// AnnotationRevision on a ControllerInstallation names its target revision. Where waves are gated, only the operator writes it.
	AnnotationRevision = "installation.trellis.garden/revision"
	// AnnotationRevisionSince on a ControllerInstallation is when that revision was assigned (RFC 3339).
	AnnotationRevisionSince = "installation.trellis.garden/revision-since"
	// AnnotationRevisionBefore on a ControllerInstallation is its state at that time: Healthy, Unsteady (healthy, but not for long again), Unhealthy,
	// Refused (what it had could not be installed), Away (its seed was unreachable when this revision was tried once more), New (it had no revision) or
	// Late (it had none, and others of its wave were healthy with this one).
	AnnotationRevisionBefore = "installation.trellis.garden/revision-before"
	// AnnotationRevisionTrial on a ControllerInstallation identifies the attempt at the newest revision: the time (RFC 3339) of the revision's current
	// result.
	AnnotationRevisionTrial = "installation.trellis.garden/revision-trial"
	// AnnotationRetry on a ControllerDeployment names a revision that failed and is to be tried once more. The operator removes it.
	AnnotationRetry = "installation.trellis.garden/retry"
)

// GroupVersion returns the group and version of every type in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &ControllerDeploymentConfig{}, &ControllerInstallationStatus{})
	return nil
}

// NewControllerDeploymentConfig returns an empty configuration with apiVersion and kind.
func NewControllerDeploymentConfig() *ControllerDeploymentConfig {
	return &ControllerDeploymentConfig{TypeMeta: typeMeta("ControllerDeploymentConfig")}
}

// NewControllerInstallationStatus returns an empty status with apiVersion and kind.
func NewControllerInstallationStatus() *ControllerInstallationStatus {
	return &ControllerInstallationStatus{TypeMeta: typeMeta("ControllerInstallationStatus")}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion().String(), Kind: kind}
}
