package registration_test

import (
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/charts/registration"
)

func admissionOf(t *testing.T, files map[string][]byte) operatorv1alpha1.Extension {
	t.Helper()
	var extension operatorv1alpha1.Extension
	documents(t, files["admission/operator.yaml"], &extension)
	return extension
}

func TestGenerate_Admission(t *testing.T) {
	files := generate(t, options())
	pulled := func(chart string) *operatorv1alpha1.DeploymentSpec {
		return &operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{OCIRepository: &gardencorev1.OCIRepository{
			Repository: new("registry.example.org/trellis/charts/" + chart), Tag: new("0.7.0"),
		}}}
	}
	got := admissionOf(t, files)
	assertValues(t, `{"types": ["openstack", "aws", "calico", "gardenet", "registrations"]}`, got.Spec.Deployment.AdmissionDeployment.Values.Raw)
	got.Spec.Deployment.AdmissionDeployment.Values = nil
	assert.Empty(t, cmp.Diff(operatorv1alpha1.Extension{
		TypeMeta:   metav1.TypeMeta{APIVersion: "operator.gardener.cloud/v1alpha1", Kind: "Extension"},
		ObjectMeta: metav1.ObjectMeta{Name: "admission", Labels: map[string]string{"app.kubernetes.io/part-of": "trellis"}},
		Spec: operatorv1alpha1.ExtensionSpec{Deployment: &operatorv1alpha1.Deployment{AdmissionDeployment: &operatorv1alpha1.AdmissionDeploymentSpec{
			RuntimeCluster: pulled("admission-runtime"), VirtualCluster: pulled("admission-application"),
		}}},
	}, got))
	for path := range files {
		assert.False(t, strings.HasPrefix(path, "admission/") && path != "admission/operator.yaml", path)
	}
}

func TestGenerate_AdmissionOptions(t *testing.T) {
	const digest = "sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
	got := admissionOf(t, generate(t, options(func(o *registration.Options) {
		o.ImageRepository = "registry.example.org/mirror"
		o.ImageDigests = map[string]string{"admission": digest}
		o.ChartDigests = map[string]string{"admission-runtime": digest}
		o.Values = registration.Values{"concurrentSyncs": 10}
		o.ValuesOf = map[string]registration.Values{
			"admission": {"defaults": registration.Values{"overlayOff": []any{}}, "image": registration.Values{"pullPolicy": "Always"}},
		}
	}))).Spec.Deployment.AdmissionDeployment
	assertValues(t, `{"types": ["openstack", "aws", "calico", "gardenet", "registrations"], "defaults": {"overlayOff": []},
		"image": {"repository": "registry.example.org/mirror/admission", "digest": "`+digest+`", "pullPolicy": "Always"}}`, got.Values.Raw)
	assert.Equal(t, digest, *got.RuntimeCluster.Helm.OCIRepository.Digest)
	assert.Nil(t, got.RuntimeCluster.Helm.OCIRepository.Tag)
	assert.Equal(t, "0.7.0", *got.VirtualCluster.Helm.OCIRepository.Tag)
}

func TestGenerate_WithoutAdmission(t *testing.T) {
	catalogue := trellisCatalogue(t)
	catalogue.Admission = nil
	files, err := registration.Generate(catalogue, options())
	require.NoError(t, err)
	for _, file := range files {
		assert.NotContains(t, file.Path, "admission")
	}
	_, err = registration.Generate(catalogue, options(func(o *registration.Options) {
		o.ChartDigests = map[string]string{"admission-runtime": "sha256:0"}
	}))
	assert.ErrorContains(t, err, "chart digest of admission-runtime: there is no admission-runtime")
}

func TestCheck_InvalidAdmission(t *testing.T) {
	for sentence, c := range map[string]struct{ admission, want string }{
		"nothing is given": {
			"{}",
			"admission.name: is missing; extension-<name> becomes a namespace of the virtual garden\n" +
				"admission.types: is missing; name at least one type, since the binary serves none that it is not given",
		},
		"the name of a registration": {
			"{name: worker, types: [openstack]}",
			"admission.name: \"worker\" is that of registrations[0] already, and both become Extensions of gardener-operator; rename one of them",
		},
		"a name that is too long": {
			"{name: " + strings.Repeat("a", 48) + ", types: [openstack]}",
			"admission.name: \"" + strings.Repeat("a", 48) + "\" has 48 characters, at most 47 are possible, since extension-<name> becomes a " +
				"namespace of the virtual garden; shorten it",
		},
		"a type twice": {"{name: x, types: [calico, calico]}", "admission.types[1]: calico stands there twice; remove one"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Read([]byte("registrations:" + workerEntry + "admission: " + c.admission))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestGenerate_AdmissionErrors(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*registration.Admission)
		values registration.Values
		want   string
	}{
		"types that are not the catalogue's": {
			values: registration.Values{"types": []any{"calico"}},
			want:   "values for admission: types comes from charts/catalogue.yaml; remove it, or change it there",
		},
		"an unknown type": {
			change: func(a *registration.Admission) { a.Types = []string{"azure"} },
			want:   "rendering chart admission-runtime of admission: checking values for chart admission-runtime",
		},
		"a value that neither half has": {
			values: registration.Values{"concurrentSyncs": 1}, want: "values for admission: concurrentSyncs: chart admission-runtime has no such value; it has affinity, ",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			catalogue := trellisCatalogue(t)
			if c.change != nil {
				c.change(catalogue.Admission)
			}
			_, err := registration.Generate(catalogue, options(func(o *registration.Options) {
				o.ValuesOf = map[string]registration.Values{"admission": c.values}
			}))
			assert.ErrorContains(t, err, c.want)
		})
	}
}
