package installations

import (
	"slices"
	"testing"

	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// switchedOn is a feature gate of gardenlet that is off by default, and on here: charts are told.
const switchedOn = "PrometheusHealthChecks"

// configureGardenlet makes what gardenlet's own chart leaves in a seed, and by which others tell how it is configured.
func configureGardenlet(t *testing.T, s *site) {
	t.Helper()
	const name = "gardenlet-configmap-1"
	config := &gardenletconfigv1alpha1.GardenletConfiguration{
		TypeMeta:     metav1.TypeMeta{APIVersion: gardenletconfigv1alpha1.SchemeGroupVersion.String(), Kind: "GardenletConfiguration"},
		FeatureGates: map[string]bool{switchedOn: true},
	}
	labels := map[string]string{"app": "gardener", "role": "gardenlet"}
	require.NoError(t, s.Client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden"}, Data: map[string]string{"config.yaml": yamlOf(t, config)},
	}))
	require.NoError(t, s.Client.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "gardenlet", Namespace: "garden", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), // it runs here
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Name: "gardenlet", Image: "gardenlet", Args: []string{"--config=/etc/gardenlet/config/config.yaml"},
					VolumeMounts: []corev1.VolumeMount{{Name: "gardenlet-config", MountPath: "/etc/gardenlet/config"}},
				}},
				Volumes: []corev1.Volume{{Name: "gardenlet-config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
				}}},
			}},
		},
	}))
}

// testEqual has the same chart installed by gardenlet and by the operator, and finds no difference.
func testEqual(t *testing.T, g *ground) {
	for _, resource := range referred() {
		require.NoError(t, g.Client.Create(t.Context(), resource))
	}
	for sentence, helm := range map[string]garden.Registration{
		"a chart": everywhere("plain", forEqual),
		"a chart with all that there is": func() garden.Registration {
			full := everywhere("full", forEqual)
			full.InjectGardenKubeconfig = true
			full.Annotations = map[string]string{"security.gardener.cloud/pod-security-enforce": "baseline"}
			full.References = namedReferences()
			full.Values = map[string]any{
				"text": "{{ .resources.config.data.word }} {{ .resources.credentials.data.password }}", "{{ .resources.config.data.word }}": []any{1, 2.5, true, nil},
				"nested": map[string]any{"empty": map[string]any{}, "large": 12345678, "none": nil},
			}
			return full
		}(),
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			helm.Chart = dumpChart(t)
			ours := helm
			config := newConfig()
			config.Chart, config.Values = helm.Chart, rawOf(t, helm.Values)
			ours.Custom = custom(t, config)

			require.NoError(t, g.Register(t.Context(), helm))
			want := g.picturesOf(t, helm.Name, helmsFinalizer)
			g.unregister(t, helm.Name)
			require.NoError(t, g.Register(t.Context(), ours))
			g.assertPictures(t, want, g.picturesOf(t, helm.Name, ourFinalizer), "made by the operator")
			g.assertTakenOver(t, helm, want, helmsFinalizer)
			g.assertTakenOver(t, ours, want, ourFinalizer)
			if helm.InjectGardenKubeconfig { // each goes by another hand
				g.assertTakenOver(t, helm, want, helmsFinalizer)
			}
			g.unregister(t, helm.Name)
		})
	}
}

// picturesOf waits until a registration is installed on both seeds by who it is for.
func (g *ground) picturesOf(t *testing.T, registration, finalizer string) map[string]picture {
	t.Helper()
	pictures := map[string]picture{}
	for _, s := range g.served() {
		installation := g.servedWith(t, s, registration, finalizer)
		if finalizer == ourFinalizer {
			managed := managedResourceOf(installation)
			require.True(t, exists(t, s.Client, managed))
			assert.Equal(t, statusOf(t, installation).Revision, managed.Annotations[installationv1alpha1.AnnotationRevision])
		}
		pictures[s.name] = pictureOf(t, s, installation)
	}
	return pictures
}

// servedWith waits until an installation is applied, and in the hands of the one whose finalizer it is.
func (g *ground) servedWith(t *testing.T, s *site, registration, finalizer string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	return g.await(t, s.name, registration, "is in the hands of "+finalizer, func(i *gardencorev1beta1.ControllerInstallation) bool {
		return slices.Equal(i.Finalizers, []string{finalizer}) && isValid(i) &&
			is(i, gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ConditionTrue) &&
			(statusOf(t, i).Revision != "") == (finalizer == ourFinalizer)
	})
}

func (g *ground) assertPictures(t *testing.T, want, got map[string]picture, what string) {
	t.Helper()
	for _, s := range g.served() {
		if difference := cmp.Diff(want[s.name], got[s.name]); difference != "" {
			t.Errorf("%s: by gardenlet (-) and %s (+): %s", s.mode, what, difference)
		}
	}
}

// assertTakenOver changes the type of a deployment under what runs. Nothing of it may be touched.
func (g *ground) assertTakenOver(t *testing.T, to garden.Registration, want map[string]picture, finalizer string) {
	t.Helper()
	before := map[string]map[string]string{}
	for _, s := range g.served() {
		before[s.name] = snapshot(t, s, g.installation(t, s.name, to.Name))
	}
	require.NoError(t, g.Deploy(t.Context(), to))
	g.assertPictures(t, want, g.picturesOf(t, to.Name, finalizer), "taken over")
	for _, s := range g.served() {
		installation := g.servedWith(t, s, to.Name, finalizer)
		assert.Equal(t, before[s.name], snapshot(t, s, installation), "%s: %s is in other hands now", s.mode, to.Name)
		if finalizer == helmsFinalizer {
			assert.NotContains(t, installation.Annotations, installationv1alpha1.AnnotationRevision)
		}
	}
}

// unregister removes a registration and its installations, which nobody needs, and waits until nothing is left of them.
func (g *ground) unregister(t *testing.T, name string) {
	t.Helper()
	var installations []*gardencorev1beta1.ControllerInstallation
	left := map[string][]client.Object{}
	require.NoError(t, g.Client.Delete(t.Context(), controllerRegistration(name)))
	for _, s := range g.served() {
		installation := g.installation(t, s.name, name)
		require.NotNil(t, installation)
		installations, left[s.name] = append(installations, installation), traces(t, s, installation)
		require.NoError(t, g.Client.Delete(t.Context(), installation)) // of a registration that goes nobody else does it
	}
	for i, s := range g.served() {
		g.gone(t, installations[i])
		assertGone(t, s, left[s.name])
		assert.False(t, exists(t, g.Client, accountOf(s, installations[i])))
	}
	g.forget(t, name)
}

// forget removes the ControllerDeployment of a registration that has been deleted, and waits until both have gone.
func (g *ground) forget(t *testing.T, name string) {
	t.Helper()
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(t, g.Client.Delete(t.Context(), deployment))
	eventually(t, "registration "+name+" has gone", func() bool {
		return !exists(t, g.Client, deployment) && !exists(t, g.Client, controllerRegistration(name))
	}, func() any { return deployment })
}

// namedReferences and referred are resources of the garden that values may be taken from.
func namedReferences() []gardencorev1.NamedResourceReference {
	return []gardencorev1.NamedResourceReference{
		{Name: "config", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "referred"}},
		{Name: "credentials", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "referred"}},
	}
}
