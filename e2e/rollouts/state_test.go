package rollouts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	candidate = "Candidate"
	good      = "Good"
	bad       = "Bad"
)

// revision is one that the operator keeps.
type revision struct {
	name, result, reason string
	number               int64
}

// revisions lists what the operator keeps of the registration, the oldest first.
func (env *environment) revisions(t *testing.T) []revision {
	t.Helper()
	list := &appsv1.ControllerRevisionList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.InNamespace(inGarden)))
	var found []revision
	for _, item := range list.Items {
		if assert.Len(t, item.OwnerReferences, 1, item.Name) {
			assert.Equal(t, "ControllerDeployment "+registration, item.OwnerReferences[0].Kind+" "+item.OwnerReferences[0].Name)
		}
		found = append(found, revisionOf(item))
	}
	slices.SortFunc(found, func(a, b revision) int { return int(a.number - b.number) })
	return found
}

// lastGood is the revision that was found good last.
func (env *environment) lastGood(t *testing.T) (name string) {
	t.Helper()
	for _, r := range env.revisions(t) {
		if r.result == good {
			name = r.name
		}
	}
	require.NotEmpty(t, name, "no revision is good")
	return name
}

func (env *environment) revision(t *testing.T, name string) revision {
	t.Helper()
	found := env.revisions(t)
	i := slices.IndexFunc(found, func(r revision) bool { return r.name == name })
	require.GreaterOrEqual(t, i, 0, "there is no revision %s", name)
	return found[i]
}

func (env *environment) waitForResult(t *testing.T, name, result string) revision {
	t.Helper()
	var found revision
	eventually(t, fmt.Sprintf("revision %s is %s", name, result), func() error {
		if found = env.revision(t, name); found.result != result {
			return fmt.Errorf("it is %s", found.result)
		}
		return nil
	})
	return found
}

// waitForAll waits until all seeds but some have a revision and are well.
func (env *environment) waitForAll(t *testing.T, revision, value string, but ...string) {
	t.Helper()
	eventually(t, "all seeds are well with revision "+revision, func() error { return env.checkInstallations(t, revision, value, but...) })
}

// checkInstallation says what an installation lacks to be as it is to be, for gardener-controller-manager, for people, and in the seed.
func (env *environment) checkInstallation(t *testing.T, s site, installation *gardencorev1beta1.ControllerInstallation, revision, value string) error {
	t.Helper()
	if installation == nil {
		return errNotYet
	}
	if assigned := installation.Annotations[installationv1alpha1.AnnotationRevision]; assigned != revision {
		return fmt.Errorf("it is to have %s", assigned)
	}
	status := statusOf(t, installation)
	if status.Wave != s.wave || status.Operator != "garden" {
		return fmt.Errorf("it is said to be of wave %q and served by %q", status.Wave, status.Operator)
	}
	if status.Revision != revision || status.TargetRevision != "" || status.Phase != installationv1alpha1.PhaseHealthy || status.LastError != nil {
		return fmt.Errorf("its status is %+v", status)
	}
	if !v1beta1helper.IsControllerInstallationSuccessful(*installation) || !isValid(installation) {
		return fmt.Errorf("its conditions are %v", installation.Status.Conditions)
	}
	if content := env.content(t, s, installation.Name); content[contentKey] != value || content["seed"] != s.seed {
		return fmt.Errorf("the seed has %v", content)
	}
	return nil
}

// content is what the ConfigMap of an installation says in the seed.
func (env *environment) content(t *testing.T, s site, installation string) map[string]string {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: contentName, Namespace: namespaceOf(installation)}}
	if !exists(t, s.cluster.Client, object) {
		return nil
	}
	return object.Data
}

func isValid(installation *gardencorev1beta1.ControllerInstallation) bool {
	valid := v1beta1helper.GetCondition(installation.Status.Conditions, gardencorev1beta1.ControllerInstallationValid)
	return valid != nil && valid.Status == gardencorev1beta1.ConditionTrue
}

func statusOf(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) *installationv1alpha1.ControllerInstallationStatus {
	t.Helper()
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	require.NoError(t, err)
	return status
}

// assertOthersUntouched: what is of type helm is gardenlet's.
func (env *environment) assertOthersUntouched(t *testing.T) {
	t.Helper()
	installations := env.installations(t, others)
	assert.Len(t, installations, len(env.sites))
	for seed, installation := range installations {
		assert.Empty(t, installation.Finalizers, seed)
		assert.NotContains(t, installation.Annotations, installationv1alpha1.AnnotationRevision, seed)
		assert.Empty(t, installation.Status, seed)
	}
}

// revisionOf reads what the operator has noted at a ControllerRevision.
func revisionOf(item appsv1.ControllerRevision) revision {
	return revision{
		name:   strings.TrimPrefix(item.Name, registration+"-"),
		result: item.Annotations[installationv1alpha1.GroupName+"/result"],
		reason: item.Annotations[installationv1alpha1.GroupName+"/reason"],
		number: item.Revision,
	}
}

// checkInstallations says which seed, of all but some, is not well with a revision, and why.
func (env *environment) checkInstallations(t *testing.T, revision, value string, but ...string) error {
	t.Helper()
	installations := env.installations(t, registration)
	for _, s := range env.sites {
		if slices.Contains(but, s.seed) {
			continue
		}
		if err := env.checkInstallation(t, s, installations[s.seed], revision, value); err != nil {
			return fmt.Errorf("%s: %w", s.seed, err)
		}
	}
	return nil
}
