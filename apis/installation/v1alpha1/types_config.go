package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ControllerDeploymentConfig says what is installed in seeds, and how a change of it reaches them (ControllerDeployment.providerConfig).
// Chart, values and valuesOverlays, together with the ControllerDeployment's injectGardenKubeconfig and resources, make a revision: a change of
// any of them is rolled out. The rest says how.
//
// +kubebuilder:object:root=true
type ControllerDeploymentConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Chart is a Helm chart as "helm package" writes it, a gzipped tar archive, in base64: what core/v1 calls rawChart for type "helm". Either it
	// or ociRepository is required.
	// +optional
	Chart []byte `json:"chart,omitempty"`
	// OCIRepository says where to pull the chart. A tag is resolved once for each revision: all seeds get the same bytes. Operators that run in seeds
	// resolve it each for itself, and anew when they start: give a digest there.
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty"`
	// Values go over those of the chart. The key "gardener" is not for them: what Gardener tells charts of type "helm" goes there
	// (gardener/docs/extensions/registration.md).
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`
	// ValuesOverlays go over values on the seeds that they select, in their order.
	// +optional
	ValuesOverlays []ValuesOverlay `json:"valuesOverlays,omitempty"`
	// Rollout says how a change reaches seeds that have an installation. A new installation never waits for it: it is served with the last
	// revision that was found good, or with the newest where there is none.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
	// Uninstall says how an installation goes.
	// +optional
	Uninstall *Uninstall `json:"uninstall,omitempty"`
	// HistoryLimit is how many revisions are kept besides those in use, and how many entries the history of an installation has: 0 to 20.
	//
	// Default: 5.
	// +optional
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}

// OCIRepository says where to pull a chart. The fields mean what they mean for type "helm": either ref is given, or repository with tag or digest.
type OCIRepository struct {
	// Ref is the whole reference, registry/repository:tag or registry/repository@digest, with or without "oci://" in front. Of a tag and a digest
	// the digest counts. It excludes repository, tag and digest.
	// +optional
	Ref string `json:"ref,omitempty"`
	// Repository is the reference without tag and digest: registry/repository.
	// +optional
	Repository string `json:"repository,omitempty"`
	// Tag is the tag of the chart. Where a chart's version has a +, its tag has an _.
	// +optional
	Tag string `json:"tag,omitempty"`
	// Digest is that of the manifest, "sha256:" and 64 hexadecimal digits. It outranks tag.
	// +optional
	Digest string `json:"digest,omitempty"`
	// PullSecretRef names a Secret of type kubernetes.io/dockerconfigjson in the namespace garden of the garden cluster. An operator that runs
	// in a seed looks for it in the namespace `seed-<name of the seed>` there, into which Gardener copies it if its label gardener.cloud/role has
	// a value that is not one of Gardener's own (gardener/pkg/controllermanager/controller/seed/secrets).
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// CABundleSecretRef names a Secret in the same namespace, with PEM-encoded certificates under the key bundle.crt, by which the registry is
	// trusted instead of by the system's.
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty"`
}

// ValuesOverlay is what differs on some seeds.
type ValuesOverlay struct {
	// Name is for messages: a DNS label that is unique in its list.
	Name string `json:"name"`
	// SeedNames selects Seeds by their names. Either it or seedSelector is required. It must be seedNames where values take something from a Secret
	// of the deployment's resources: a seed's gardenlet may change the seed's labels, but not its name. For the same reason what the deployment's own values
	// take from a Secret is for every seed, whatever overlays leave out of it.
	// +optional
	SeedNames []string `json:"seedNames,omitempty"`
	// SeedSelector selects Seeds by their labels. An empty one, {}, selects all.
	// +optional
	SeedSelector *metav1.LabelSelector `json:"seedSelector,omitempty"`
	// Values go over what is there: maps are merged, everything else is replaced, and null removes. The key "gardener" is not for them either.
	Values *runtime.RawExtension `json:"values"`
}

// Rollout says how a change of revision reaches seeds.
type Rollout struct {
	// Paused holds back all changes of revision but the one back from a revision that failed.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Waves come one after the other. A seed belongs to the first one that selects it; seeds that none selects are the last wave, "rest".
	// +optional
	Waves []Wave `json:"waves,omitempty"`
	// SoakTime is how long every installation of a wave must have been healthy before the next wave begins, for waves that don't say
	// otherwise: at most a week (168h).
	//
	// Default: 5m.
	// +optional
	SoakTime *metav1.Duration `json:"soakTime,omitempty"`
	// MaxUnavailable is how many installations of a wave may be changing, or unhealthy, at the same time, for waves that don't say otherwise: a
	// number of at least 1, or a percentage of the wave, 1% to 100%, of which at least one is made.
	//
	// Default: 25%.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxFailures is how many installations of a wave may fail with a new revision, although they were healthy before they got it, until the revision has
	// failed: a number of at least 0, or a percentage of the wave, rounded down. Never all of a wave may. Those that have failed keep the revision, if it
	// turns out to be good.
	//
	// Default: 0.
	// +optional
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
	// HealthGate says when an installation has failed with a new revision.
	// +optional
	HealthGate *HealthGate `json:"healthGate,omitempty"`
	// Rollback says what happens with installations whose revision has failed.
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
	// SoakTime is that of this wave.
	//
	// Default: the rollout's.
	// +optional
	SoakTime *metav1.Duration `json:"soakTime,omitempty"`
	// MaxUnavailable is that of this wave.
	//
	// Default: the rollout's.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// HealthGate says when an installation has failed with a new revision. One that it cannot be rendered for has failed at once. Only what was healthy
// before it got the revision, or is new, can fail otherwise. Seeds that were unreachable already when the others got the revision count neither way, unless a
// whole wave is: then the rollout waits. All times are measured while the operator is watching.
type HealthGate struct {
	// Deadline is how long an installation may take to become healthy with a new revision, how long its seed may be out of sight after that was assigned, and
	// how long it may be unhealthy in all: at most a day (24h).
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
	// Each time its soak begins anew.
	//
	// Default: 5.
	// +optional
	MaxInterruptions *int32 `json:"maxInterruptions,omitempty"`
	// MaxWait is how long a wave waits for an installation that was not healthy before it got the new revision: at most a day (24h). It is reported, and
	// never makes a revision fail.
	//
	// Default: 10m.
	// +optional
	MaxWait *metav1.Duration `json:"maxWait,omitempty"`
}

// RollbackPolicy says what happens with installations that have a revision which failed.
type RollbackPolicy string

// What happens with installations that have a revision which failed (rollout.rollback).
const (
	// RollbackAutomatic gives them the last good revision, all at once. Where no revision was ever good, they keep what they have.
	RollbackAutomatic RollbackPolicy = "Automatic"
	// RollbackNever leaves them as they are. The rollout goes no further either way.
	RollbackNever RollbackPolicy = "Never"
)

// Uninstall says how an installation goes.
type Uninstall struct {
	// WhileRequired says what happens with an installation that is deleted while extension objects in the seed still need it (condition
	// Required).
	//
	// Default: Wait.
	// +optional
	WhileRequired UninstallPolicy `json:"whileRequired,omitempty"`
}

// UninstallPolicy says what happens with an installation that is deleted although it is needed.
type UninstallPolicy string

// What happens with an installation that is deleted although it is needed (uninstall.whileRequired).
const (
	// UninstallWait keeps it running until nothing needs it any more.
	UninstallWait UninstallPolicy = "Wait"
	// UninstallProceed removes it. What needed it hangs until somebody else serves it.
	UninstallProceed UninstallPolicy = "Proceed"
)
