package registration_test

import (
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

func TestGenerate_Installer(t *testing.T) {
	files := generate(t, options())
	archive, err := charts.Archive("controllerinstallation-controller-seed", "v0.7.0")
	require.NoError(t, err)
	wantRegistration := gardencorev1beta1.ControllerRegistration{
		TypeMeta: metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "ControllerRegistration"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "controllerinstallation", Labels: map[string]string{"app.kubernetes.io/part-of": "trellis"},
			Annotations: map[string]string{"security.gardener.cloud/pod-security-enforce": "restricted"},
		},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
			Policy:         new(gardencorev1beta1.ControllerDeploymentPolicyAlways),
			DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "controllerinstallation"}},
		}},
	}
	const wantValues = `{"types": ["trellis"]}`
	wantOCI := &gardencorev1.OCIRepository{
		Repository: new("registry.example.org/trellis/charts/controllerinstallation-controller-seed"), Tag: new("0.7.0"),
	}

	for form, wantHelm := range map[string]gardencorev1.HelmControllerDeployment{"rawchart": {RawChart: archive}, "oci": {OCIRepository: wantOCI}} {
		var deployment gardencorev1.ControllerDeployment
		var got gardencorev1beta1.ControllerRegistration
		documents(t, files["controllerinstallation/"+form+".yaml"], &deployment, &got)
		assert.Empty(t, cmp.Diff(wantRegistration, got), form)
		assertValues(t, wantValues, deployment.Helm.Values.Raw)
		deployment.Helm.Values = nil
		assert.Empty(t, cmp.Diff(&wantHelm, deployment.Helm), form)
		assert.Equal(t, new(true), deployment.InjectGardenKubeconfig, form)
	}
	var older gardencorev1beta1.ControllerDeployment
	documents(t, files["controllerinstallation/v1beta1.yaml"], &older, &gardencorev1beta1.ControllerRegistration{})
	assert.Equal(t, "helm", older.Type)
	assert.Equal(t, new(true), older.InjectGardenKubeconfig)
	var extension operatorv1alpha1.Extension
	documents(t, files["controllerinstallation/operator.yaml"], &extension)
	assert.Empty(t, extension.Spec.Resources)
	assert.Equal(t, new(true), extension.Spec.Deployment.ExtensionDeployment.InjectGardenKubeconfig)
	assert.Equal(t, gardencorev1beta1.ControllerDeploymentPolicyAlways, *extension.Spec.Deployment.ExtensionDeployment.Policy)
	assert.NotContains(t, files, "controllerinstallation/trellis.yaml", "who would install it?")
	for path, content := range files {
		if !strings.HasPrefix(path, "controllerinstallation/") {
			assert.NotContains(t, string(content), "injectGardenKubeconfig", "%s: nobody else needs the garden", path)
		}
	}
}

func TestGenerate_InstallerInGarden(t *testing.T) {
	pulled := func(chart string) *operatorv1alpha1.DeploymentSpec {
		return &operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{OCIRepository: &gardencorev1.OCIRepository{
			Repository: new("registry.example.org/trellis/charts/" + chart), Tag: new("0.7.0"),
		}}}
	}
	var got operatorv1alpha1.Extension
	documents(t, generate(t, options())["controllerinstallation-garden/operator.yaml"], &got)
	assertValues(t, `{"types": ["trellis"]}`, got.Spec.Deployment.AdmissionDeployment.Values.Raw)
	got.Spec.Deployment.AdmissionDeployment.Values = nil
	assert.Empty(t, cmp.Diff(operatorv1alpha1.Extension{
		TypeMeta:   metav1.TypeMeta{APIVersion: "operator.gardener.cloud/v1alpha1", Kind: "Extension"},
		ObjectMeta: metav1.ObjectMeta{Name: "controllerinstallation-garden", Labels: map[string]string{"app.kubernetes.io/part-of": "trellis"}},
		Spec: operatorv1alpha1.ExtensionSpec{Deployment: &operatorv1alpha1.Deployment{AdmissionDeployment: &operatorv1alpha1.AdmissionDeploymentSpec{
			RuntimeCluster: pulled("controllerinstallation-controller-runtime"), VirtualCluster: pulled("controllerinstallation-controller-application"),
		}}},
	}, got))
}

func TestGenerate_InstallerOptions(t *testing.T) {
	const digest = "sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
	files := generate(t, options(func(o *registration.Options) {
		o.ImageRepository = "registry.example.org/mirror"
		o.ImageDigests = map[string]string{"controllerinstallation-controller": digest}
		o.Values = registration.Values{"statusGuard": registration.Values{"enabled": false}}
		o.ValuesOf = map[string]registration.Values{
			"controllerinstallation":        {"syncPeriod": "1m"},
			"controllerinstallation-garden": {"seedSelector": "operator=garden"},
		}
	}))
	const image = `"image": {"repository": "registry.example.org/mirror/controllerinstallation-controller", "digest": "` + digest + `"}`
	var deployment gardencorev1.ControllerDeployment
	documents(t, files["controllerinstallation/oci.yaml"], &deployment, &gardencorev1beta1.ControllerRegistration{})
	assertValues(t, `{"types": ["trellis"], "syncPeriod": "1m", `+image+`}`, deployment.Helm.Values.Raw)
	var extension operatorv1alpha1.Extension
	documents(t, files["controllerinstallation-garden/operator.yaml"], &extension)
	assertValues(t, `{"types": ["trellis"], "seedSelector": "operator=garden", `+image+`}`, extension.Spec.Deployment.AdmissionDeployment.Values.Raw)
}

func TestGenerate_InstallerSeedSelector(t *testing.T) {
	catalogue, err := registration.Read([]byte("registrations:" + workerEntry +
		"installer: {name: x, types: [trellis], seedSelector: {matchLabels: {operator: seed}}}\n"))
	require.NoError(t, err)
	files, err := registration.Generate(catalogue, options())
	require.NoError(t, err)
	want, found := &metav1.LabelSelector{MatchLabels: map[string]string{"operator": "seed"}}, 0
	for _, file := range files {
		switch file.Path {
		case "x/oci.yaml":
			var got gardencorev1beta1.ControllerRegistration
			documents(t, file.Content, &gardencorev1.ControllerDeployment{}, &got)
			assert.Equal(t, want, got.Spec.Deployment.SeedSelector)
			found++
		case "x/operator.yaml":
			var got operatorv1alpha1.Extension
			documents(t, file.Content, &got)
			assert.Equal(t, want, got.Spec.Deployment.ExtensionDeployment.SeedSelector)
			found++
		}
	}
	assert.Equal(t, 2, found)
}

func TestGenerate_WithoutInstaller(t *testing.T) {
	catalogue := trellisCatalogue(t)
	catalogue.Installer = nil
	files, err := registration.Generate(catalogue, options())
	require.NoError(t, err)
	var paths []string
	for _, file := range files {
		assert.NotContains(t, file.Path, "controllerinstallation")
		paths = append(paths, file.Path)
	}
	assert.Contains(t, paths, "network/trellis.yaml", "another landscape's may serve it")
	_, err = registration.Generate(catalogue, options(func(o *registration.Options) {
		o.ImageDigests = map[string]string{"controllerinstallation-controller": "sha256:1"}
	}))
	assert.ErrorContains(t, err, "there is no controllerinstallation-controller")
}

func TestCheck_InvalidInstaller(t *testing.T) {
	for sentence, c := range map[string]struct{ more, want string }{
		"without a type": {
			"installer: {name: x}\n",
			"installer.types: is missing; name at least one type, since the binary serves none that it is not given",
		},
		"that takes gardenlet's": {
			"installer: {name: x, types: [trellis, helm]}\n",
			"installer.types[1]: the type helm is gardenlet's, and both would fulfil it; remove it",
		},
		"that serves none of ours": {
			"installer: {name: x, types: [other]}\n",
			"installer.types: trellis is missing, which the files trellis.yaml of all registrations have; add it",
		},
		"with too long a name": {
			"installer: {name: " + strings.Repeat("x", 41) + ", types: [trellis]}\n",
			"installer.name: \"" + strings.Repeat("x", 41) + "\" has 41 characters, at most 40 are possible, since " +
				"extension-<name>-<5 characters> and extension-<name>-garden become namespaces; shorten it",
		},
		"with the name of another": {
			"installer: {name: worker, types: [trellis]}\n", "installer.name: \"worker\" is registered already; rename one of them",
		},
		"whose other name is admission's": {
			"installer: {name: x, types: [trellis]}\nadmission: {name: x-garden, types: [calico]}\n",
			"installer.name: \"x-garden\" is registered already; rename one of them",
		},
		"with a kind": {
			"installer: {name: x, types: [trellis], kind: Worker}\n", "installer.kind: is not a field; there are name, types, seedSelector",
		},
		"for seeds that cannot be": {
			"installer: {name: x, types: [trellis], seedSelector: {matchLabels: {a: b c}}}\n",
			"installer.seedSelector.matchLabels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', " +
				"'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " +
				"validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'); write it as a Kubernetes label selector",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Read([]byte("registrations:" + workerEntry + c.more))
			assert.EqualError(t, err, c.want)
		})
	}
}
