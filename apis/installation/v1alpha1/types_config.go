package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ControllerDeploymentConfig configures what is installed in seeds, and how changes are rolled out to them
// (ControllerDeployment.providerConfig). Chart, values and valuesOverlays, together with the ControllerDeployment's injectGardenKubeconfig and
// resources, make a revision: a change of any of them is rolled out. The other fields configure the rollout.
//
// +kubebuilder:object:root=true
type ControllerDeploymentConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Chart is a Helm chart as "helm package" writes it, a gzipped tar archive, in base64: the field rawChart of core/v1 for type "helm".
	// Exactly one of chart and ociRepository is required.
	// +optional
	Chart []byte `json:"chart,omitempty"`
	// OCIRepository is the OCI artifact from which the chart is pulled. A tag is resolved once for each revision: all seeds get the same bytes.
	// Operators that run in seeds resolve it separately, and again when they start: use a digest there.
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty"`
	// Values override those of the chart. They must not have the key "gardener": it holds what Gardener passes to charts of type
	// "helm" (gardener/docs/extensions/registration.md).
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`
	// ValuesOverlays override values on the seeds that they select, in their order.
	// +optional
	ValuesOverlays []ValuesOverlay `json:"valuesOverlays,omitempty"`
	// Rollout configures how a change is rolled out to seeds that have an installation. A new installation never waits for it: it gets the
	// last good revision, or the newest if there is none.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
	// Uninstall configures how an installation is removed.
	// +optional
	Uninstall *Uninstall `json:"uninstall,omitempty"`
	// HistoryLimit is the number of revisions that are kept besides those in use, and the maximum number of entries in the history of an
	// installation: 0 to 20.
	//
	// Default: 5.
	// +optional
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}

// OCIRepository is an OCI artifact from which a chart is pulled. The fields mean what they mean for type "helm": either ref is set, or repository
// with tag or digest.
type OCIRepository struct {
	// Ref is the whole reference, registry/repository:tag or registry/repository@digest, with or without "oci://" in front. If it has a tag and a
	// digest, the digest is used. It excludes repository, tag and digest.
	// +optional
	Ref string `json:"ref,omitempty"`
	// Repository is the reference without tag and digest: registry/repository.
	// +optional
	Repository string `json:"repository,omitempty"`
	// Tag is the tag of the chart. Where a chart's version has a +, its tag has an _.
	// +optional
	Tag string `json:"tag,omitempty"`
	// Digest is that of the manifest, "sha256:" and 64 hexadecimal digits. It takes precedence over tag.
	// +optional
	Digest string `json:"digest,omitempty"`
	// PullSecretRef names a Secret of type kubernetes.io/dockerconfigjson in the namespace garden of the garden cluster. An operator that runs in
	// a seed reads it from the namespace `seed-<name of the seed>` there, into which Gardener copies it if its label gardener.cloud/role has a
	// value that is not one of Gardener's own (gardener/pkg/controllermanager/controller/seed/secrets).
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// CABundleSecretRef names a Secret in the same namespace, with PEM-encoded certificates under the key bundle.crt, which are used instead
	// of the system's to verify the registry.
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty"`
}

// ValuesOverlay are values that differ on some seeds.
type ValuesOverlay struct {
	// Name is a DNS label that is unique in its list. It is used in messages.
	Name string `json:"name"`
	// SeedNames selects Seeds by their names. Exactly one of seedNames and seedSelector is required. seedNames is required if values refer to a Secret
	// of the deployment's resources: a seed's gardenlet may change the seed's labels, but not its name. For the same reason, Secrets that the
	// deployment's own values refer to are available to every seed, even if overlays remove them from the values.
	// +optional
	SeedNames []string `json:"seedNames,omitempty"`
	// SeedSelector selects Seeds by their labels. An empty one, {}, selects all.
	// +optional
	SeedSelector *metav1.LabelSelector `json:"seedSelector,omitempty"`
	// Values override the values so far: maps are merged, everything else is replaced, and null removes. They must not have the key "gardener"
	// either.
	Values *runtime.RawExtension `json:"values"`
}

// Rollout configures how a revision is rolled out to seeds.
type Rollout struct {
	// Paused stops all changes of revision except the rollback of a failed revision.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Waves are processed one after the other. A seed belongs to the first one that selects it; seeds that no wave selects are the last
	// wave, "rest".
	// +optional
	Waves []Wave `json:"waves,omitempty"`
	// SoakTime is how long every installation of a wave must have been healthy before the next wave begins, for waves that do not
	// set their own: at most a week (168h).
	//
	// Default: 5m.
	// +optional
	SoakTime *metav1.Duration `json:"soakTime,omitempty"`
	// MaxUnavailable is how many installations of a wave may be changing, or unhealthy, at the same time, for waves that do not set their own:
	// a number of at least 1, or a percentage of the wave, 1% to 100%, which is rounded to at least one.
	//
	// Default: 25%.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxFailures is how many installations of a wave may fail with a new revision, although they were healthy before they got it, before the revision
	// counts as failed: a number of at least 0, or a percentage of the wave, rounded down. It is always less than the whole wave. Installations that
	// have failed keep the revision if it becomes good.
	//
	// Default: 0.
	// +optional
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
	// HealthGate configures when an installation has failed with a new revision.
	// +optional
	HealthGate *HealthGate `json:"healthGate,omitempty"`
	// Rollback configures what happens with installations whose revision has failed.
	//
	// Default: Automatic.
	// +optional
	Rollback RollbackPolicy `json:"rollback,omitempty"`
}

// Wave is a step of a rollout.
type Wave struct {
	// Name is a DNS label that is unique in its list, and not "rest".
	Name string `json:"name"`
	// SeedSelector selects Seeds by their labels. An empty one, {}, selects all.
	SeedSelector *metav1.LabelSelector `json:"seedSelector"`
	// SoakTime is the soak time of this wave.
	//
	// Default: the rollout's.
	// +optional
	SoakTime *metav1.Duration `json:"soakTime,omitempty"`
	// MaxUnavailable is the maximum number of unavailable installations of this wave.
	//
	// Default: the rollout's.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// HealthGate configures when an installation has failed with a new revision. An installation fails at once if the revision cannot be rendered for
// it. Otherwise only an installation that is new or was healthy before can fail. Seeds that were already unreachable when the others got the
// revision are ignored, unless a whole wave is unreachable: then the rollout waits. All times are measured only while the operator is running.
type HealthGate struct {
	// Deadline is how long an installation may take to become healthy with a new revision, how long its seed may be unreachable after the revision was
	// assigned, and how long it may be unhealthy in total: at most a day (24h).
	//
	// Default: 10m.
	// +optional
	Deadline *metav1.Duration `json:"deadline,omitempty"`
	// Tolerance is how long an installation that was healthy with a new revision may be unhealthy, until the rollout has ended: at most a day
	// (24h).
	//
	// Default: 1m.
	// +optional
	Tolerance *metav1.Duration `json:"tolerance,omitempty"`
	// MaxInterruptions is how often an installation that was healthy with a new revision may become unhealthy, until the rollout has ended: 0 to 100.
	// Each time its soak time starts again.
	//
	// Default: 5.
	// +optional
	MaxInterruptions *int32 `json:"maxInterruptions,omitempty"`
	// MaxWait is how long a wave waits for an installation that was not healthy before it got the new revision: at most a day (24h). Such an
	// installation is reported, and never makes a revision fail.
	//
	// Default: 10m.
	// +optional
	MaxWait *metav1.Duration `json:"maxWait,omitempty"`
}

// RollbackPolicy is what happens with installations whose revision has failed.
type RollbackPolicy string

// The rollback policies (rollout.rollback).
const (
	// RollbackAutomatic returns them to the last good revision, all at once. If no revision was ever good, they keep theirs.
	RollbackAutomatic RollbackPolicy = "Automatic"
	// RollbackNever leaves them as they are. The rollout stops in both cases.
	RollbackNever RollbackPolicy = "Never"
)

// Uninstall configures how an installation is removed.
type Uninstall struct {
	// WhileRequired configures what happens with an installation that is deleted while extension objects in the seed still need it
	// (condition Required).
	//
	// Default: Wait.
	// +optional
	WhileRequired UninstallPolicy `json:"whileRequired,omitempty"`
}

// UninstallPolicy is what happens with an installation that is deleted although it is needed.
type UninstallPolicy string

// The uninstall policies (uninstall.whileRequired).
const (
	// UninstallWait keeps it running until nothing needs it.
	UninstallWait UninstallPolicy = "Wait"
	// UninstallProceed removes it. The extension objects that need it hang until another controller handles them.
	UninstallProceed UninstallPolicy = "Proceed"
)
