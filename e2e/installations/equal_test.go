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

// enabledFeatureGate is a feature gate of gardenlet that is disabled by default, and enabled here: charts get it as a value.
const enabledFeatureGate = "PrometheusHealthChecks"

// configureGardenlet creates the objects of gardenlet's own chart in a seed from which others read its configuration.
func configureGardenlet(t *testing.T, s *site) {
	t.Helper()
	const name = "gardenlet-configmap-1"
	config := &gardenletconfigv1alpha1.GardenletConfiguration{
		TypeMeta:     metav1.TypeMeta{APIVersion: gardenletconfigv1alpha1.SchemeGroupVersion.String(), Kind: "GardenletConfiguration"},
		FeatureGates: map[string]bool{enabledFeatureGate: true},
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
func testEqual(t *testing.T, env *environment) {
	for _, resource := range referred() {
		require.NoError(t, env.Client.Create(t.Context(), resource))
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
			byTrellis := helm
			config := newConfig()
			config.Chart, config.Values = helm.Chart, rawOf(t, helm.Values)
			byTrellis.Custom = custom(t, config)

			require.NoError(t, env.Register(t.Context(), helm))
			want := env.installedOnBoth(t, helm.Name, helmsFinalizer)
			env.unregister(t, helm.Name)
			require.NoError(t, env.Register(t.Context(), byTrellis))
			env.assertInstalledObjects(t, want, env.installedOnBoth(t, helm.Name, ourFinalizer), "made by the operator")
			env.assertTakenOver(t, helm, want, helmsFinalizer)
			env.assertTakenOver(t, byTrellis, want, ourFinalizer)
			if helm.InjectGardenKubeconfig { // each goes by another hand
				env.assertTakenOver(t, helm, want, helmsFinalizer)
			}
			env.unregister(t, helm.Name)
		})
	}
}

// installedOnBoth waits until a registration is installed on both seeds by its controller.
func (env *environment) installedOnBoth(t *testing.T, registration, finalizer string) map[string]installedObjects {
	t.Helper()
	installed := map[string]installedObjects{}
	for _, s := range env.sitesWithGardenlet() {
		installation := env.waitForFinalizer(t, s, registration, finalizer)
		if finalizer == ourFinalizer {
			managed := managedResourceOf(installation)
			require.True(t, exists(t, s.Client, managed))
			assert.Equal(t, statusOf(t, installation).Revision, managed.Annotations[installationv1alpha1.AnnotationRevision])
		}
		installed[s.name] = installedObjectsOf(t, s, installation)
	}
	return installed
}

// waitForFinalizer waits until an installation is applied, and has the finalizer of its controller.
func (env *environment) waitForFinalizer(t *testing.T, s *site, registration, finalizer string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	return env.waitFor(t, s.name, registration, "is in the hands of "+finalizer, func(i *gardencorev1beta1.ControllerInstallation) bool {
		return slices.Equal(i.Finalizers, []string{finalizer}) && isValid(i) &&
			is(i, gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ConditionTrue) &&
			(statusOf(t, i).Revision != "") == (finalizer == ourFinalizer)
	})
}

func (env *environment) assertInstalledObjects(t *testing.T, want, got map[string]installedObjects, what string) {
	t.Helper()
	for _, s := range env.sitesWithGardenlet() {
		if difference := cmp.Diff(want[s.name], got[s.name]); difference != "" {
			t.Errorf("%s: by gardenlet (-) and %s (+): %s", s.mode, what, difference)
		}
	}
}

// assertTakenOver changes the type of an installed deployment. None of its objects may change.
func (env *environment) assertTakenOver(t *testing.T, to garden.Registration, want map[string]installedObjects, finalizer string) {
	t.Helper()
	before := map[string]map[string]string{}
	for _, s := range env.sitesWithGardenlet() {
		before[s.name] = snapshot(t, s, env.installation(t, s.name, to.Name))
	}
	require.NoError(t, env.Deploy(t.Context(), to))
	env.assertInstalledObjects(t, want, env.installedOnBoth(t, to.Name, finalizer), "taken over")
	for _, s := range env.sitesWithGardenlet() {
		installation := env.waitForFinalizer(t, s, to.Name, finalizer)
		assert.Equal(t, before[s.name], snapshot(t, s, installation), "%s: %s is in other hands now", s.mode, to.Name)
		if finalizer == helmsFinalizer {
			assert.NotContains(t, installation.Annotations, installationv1alpha1.AnnotationRevision)
		}
	}
}

// unregister removes a registration and its installations, which are not needed, and waits until all their objects are gone.
func (env *environment) unregister(t *testing.T, name string) {
	t.Helper()
	var installations []*gardencorev1beta1.ControllerInstallation
	left := map[string][]client.Object{}
	require.NoError(t, env.Client.Delete(t.Context(), controllerRegistration(name)))
	for _, s := range env.sitesWithGardenlet() {
		installation := env.installation(t, s.name, name)
		require.NotNil(t, installation)
		installations, left[s.name] = append(installations, installation), ownedObjects(t, s, installation)
		require.NoError(t, env.Client.Delete(t.Context(), installation)) // of a registration that goes nobody else does it
	}
	for i, s := range env.sitesWithGardenlet() {
		env.gone(t, installations[i])
		assertGone(t, s, left[s.name])
		assert.False(t, exists(t, env.Client, accountOf(s, installations[i])))
	}
	env.deleteDeployment(t, name)
}

// deleteDeployment deletes the ControllerDeployment of a deleted registration, and waits until both are gone.
func (env *environment) deleteDeployment(t *testing.T, name string) {
	t.Helper()
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(t, env.Client.Delete(t.Context(), deployment))
	eventually(t, "registration "+name+" has gone", func() bool {
		return !exists(t, env.Client, deployment) && !exists(t, env.Client, controllerRegistration(name))
	}, func() any { return deployment })
}

// namedReferences and referred are resources of the garden that values refer to.
func namedReferences() []gardencorev1.NamedResourceReference {
	return []gardencorev1.NamedResourceReference{
		{Name: "config", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "referred"}},
		{Name: "credentials", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "referred"}},
	}
}
