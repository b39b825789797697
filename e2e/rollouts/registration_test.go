package rollouts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	// registration is what every seed wants of the operator, others is not the operator's.
	registration = "rolled"
	others       = "others"

	// contentName is the name of the ConfigMap that every revision consists of; under contentKey it has the revision's word.
	contentName, contentKey = "content", "revision"
	// failingName is the name of the Deployment that a broken revision has besides, and of the ServiceAccount that its pods lack.
	failingName = "trouble"
)

const contentTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: content
  namespace: {{ .Release.Namespace }}
  labels: {of: rollouts}
data:
  revision: %q
  seed: {{ .Values.gardener.seed.name | quote }}
`

const failingTemplate = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: trouble
  namespace: {{ .Release.Namespace }}
spec:
  replicas: 1
  selector: {matchLabels: {app: trouble}}
  template:
    metadata: {labels: {app: trouble}}
    spec:
      serviceAccountName: trouble
      containers: [{name: trouble, image: example.com/trouble}]
`

// chart packs one whose objects show the word. A broken one has a Deployment whose ServiceAccount nobody has made.
func chart(t *testing.T, value string, broken bool) []byte {
	t.Helper()
	templates := map[string]string{"content.yaml": fmt.Sprintf(contentTemplate, value)}
	if broken {
		templates["trouble.yaml"] = failingTemplate
	}
	archive, err := garden.PackChart("rolled", templates)
	require.NoError(t, err)
	return archive
}

const (
	soak, tolerance = 2 * time.Second, 5 * time.Second
	// never is for what must not make a difference.
	never = 10 * time.Minute
)

// maxUnavailable is how many installations of a wave may be changing or unhealthy at the same time.
func maxUnavailable() map[string]int { return map[string]int{canary: 1, early: 3, late: 5} }

// waves is the order of a rollout.
func waves() []string { return []string{canary, early, late} }

// settings are what an admin registers, but for the chart.
func settings() *installationv1alpha1.Rollout {
	wave := func(name string) installationv1alpha1.Wave {
		return installationv1alpha1.Wave{
			Name:           name,
			SeedSelector:   &metav1.LabelSelector{MatchLabels: map[string]string{stageLabel: name}},
			MaxUnavailable: new(intstr.FromInt(maxUnavailable()[name])),
		}
	}
	return &installationv1alpha1.Rollout{
		Waves:          []installationv1alpha1.Wave{wave(canary), wave(early)},
		SoakTime:       &metav1.Duration{Duration: soak},
		MaxUnavailable: new(intstr.FromString("50%")), // of the ten others
		// What is good may take its time on a machine that is busy.
		HealthGate: &installationv1alpha1.HealthGate{Deadline: &metav1.Duration{Duration: never}, Tolerance: &metav1.Duration{Duration: tolerance}},
	}
}

func deployment() *gardencorev1beta1.ControllerDeployment {
	return &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: registration}}
}

// register registers the first revision for every seed.
func (env *environment) register(t *testing.T, config *installationv1alpha1.ControllerDeploymentConfig) {
	t.Helper()
	raw, err := installationv1alpha1.Encode(config)
	require.NoError(t, err)
	object := deployment()
	object.Type, object.ProviderConfig = installationv1alpha1.DeploymentType, *raw
	require.NoError(t, env.Client.Create(t.Context(), object))
	require.NoError(t, env.Client.Create(t.Context(), &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: registration},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
			Policy:         new(gardencorev1beta1.ControllerDeploymentPolicyAlways),
			DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: registration}},
		}},
	}))
}

// change edits what is registered.
func (env *environment) change(t *testing.T, edit func(*installationv1alpha1.ControllerDeploymentConfig)) {
	t.Helper()
	object := deployment()
	require.True(t, exists(t, env.Client, object))
	before := object.DeepCopy()
	config, err := installationv1alpha1.DecodeControllerDeploymentConfig(&object.ProviderConfig)
	require.NoError(t, err)
	edit(config)
	raw, err := installationv1alpha1.Encode(config)
	require.NoError(t, err)
	object.ProviderConfig = *raw
	require.NoError(t, env.Client.Patch(t.Context(), object, client.MergeFrom(before)))
}

// release registers another revision with the settings that are usual, but for some, and returns its name.
func (env *environment) release(t *testing.T, chart []byte, edits ...func(*installationv1alpha1.Rollout)) string {
	t.Helper()
	known := env.revisions(t)
	env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) {
		config.Chart, config.Rollout = chart, settings()
		for _, edit := range edits {
			edit(config.Rollout)
		}
	})
	return env.newRevision(t, known)
}

// newRevision waits for a revision that is not among those that are known.
func (env *environment) newRevision(t *testing.T, known []revision) (name string) {
	t.Helper()
	eventually(t, "there is another revision", func() error {
		for _, r := range env.revisions(t) {
			if !slices.ContainsFunc(known, func(k revision) bool { return k.name == r.name }) {
				name = r.name
				return nil
			}
		}
		return errNotYet
	})
	return name
}
