package registration_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

func trellisCatalogue(t *testing.T) registration.Catalogue {
	t.Helper()
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)
	return catalogue
}

// options are those of a plain release.
func options(change ...func(*registration.Options)) registration.Options {
	o := registration.Options{Version: "v0.7.0", ChartRepository: "registry.example.org/trellis/charts"}
	for _, f := range change {
		f(&o)
	}
	return o
}

func generate(t *testing.T, o registration.Options) map[string][]byte {
	t.Helper()
	files, err := registration.Generate(trellisCatalogue(t), o)
	require.NoError(t, err)
	contents := map[string][]byte{}
	for _, file := range files {
		contents[file.Path] = file.Content
	}
	require.Len(t, contents, len(files))
	return contents
}

// documents decodes the documents of a file strictly into the given types, which is what the API server does with them.
func documents(t *testing.T, file []byte, into ...any) {
	t.Helper()
	parts := strings.Split(string(file), "\n---\n")[1:]
	require.Len(t, parts, len(into))
	for i, part := range parts {
		require.NoError(t, yaml.UnmarshalStrict([]byte(part), into[i]), "document %d", i)
	}
}

func assertValues(t *testing.T, want string, got []byte) {
	t.Helper()
	assert.JSONEq(t, want, string(got))
}

func TestGenerate_FormsAgree(t *testing.T) {
	files := generate(t, options())
	require.Len(t, files, 5*len(trellisCatalogue(t).Registrations)+1+4+1, "with admission, and the installer in seeds and in the garden")

	archive, err := charts.Archive("network-controller", "v0.7.0")
	require.NoError(t, err)
	wantRegistration := gardencorev1beta1.ControllerRegistration{
		TypeMeta: metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "ControllerRegistration"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "network", Labels: map[string]string{"app.kubernetes.io/part-of": "trellis"},
			Annotations: map[string]string{"security.gardener.cloud/pod-security-enforce": "restricted"},
		},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources: []gardencorev1beta1.ControllerResource{
				{Kind: "Network", Type: "calico", Primary: new(true)}, {Kind: "Network", Type: "gardenet", Primary: new(true)},
			},
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy:         new(gardencorev1beta1.ControllerDeploymentPolicyOnDemand),
				DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "network"}},
			},
		},
	}
	wantOCI := &gardencorev1.OCIRepository{Repository: new("registry.example.org/trellis/charts/network-controller"), Tag: new("0.7.0")}
	const wantValues = `{"types": ["calico", "gardenet"]}`

	t.Run("with the chart inside", func(t *testing.T) {
		var deployment gardencorev1.ControllerDeployment
		var got gardencorev1beta1.ControllerRegistration
		documents(t, files["network/rawchart.yaml"], &deployment, &got)
		assert.Empty(t, cmp.Diff(wantRegistration, got))
		assert.Equal(t, "core.gardener.cloud/v1 ControllerDeployment", deployment.APIVersion+" "+deployment.Kind)
		assert.Equal(t, "network", deployment.Name)
		assert.Equal(t, archive, deployment.Helm.RawChart)
		assert.Nil(t, deployment.Helm.OCIRepository)
		assertValues(t, wantValues, deployment.Helm.Values.Raw)
	})
	t.Run("with a chart to be pulled", func(t *testing.T) {
		var deployment gardencorev1.ControllerDeployment
		var got gardencorev1beta1.ControllerRegistration
		documents(t, files["network/oci.yaml"], &deployment, &got)
		assert.Empty(t, cmp.Diff(wantRegistration, got))
		assert.Empty(t, cmp.Diff(wantOCI, deployment.Helm.OCIRepository))
		assert.Empty(t, deployment.Helm.RawChart)
		assertValues(t, wantValues, deployment.Helm.Values.Raw)
	})
	t.Run("in the older form", func(t *testing.T) {
		var deployment gardencorev1beta1.ControllerDeployment
		var got gardencorev1beta1.ControllerRegistration
		documents(t, files["network/v1beta1.yaml"], &deployment, &got)
		assert.Empty(t, cmp.Diff(wantRegistration, got))
		assert.Equal(t, "core.gardener.cloud/v1beta1", deployment.APIVersion)
		assert.Equal(t, "helm", deployment.Type)
		var helm gardencorev1beta1.HelmControllerDeployment
		require.NoError(t, yaml.UnmarshalStrict(deployment.ProviderConfig.Raw, &helm))
		assert.Equal(t, archive, helm.Chart)
		assertValues(t, wantValues, helm.Values.Raw)
	})
	t.Run("for gardener-operator", func(t *testing.T) {
		var extension operatorv1alpha1.Extension
		documents(t, files["network/operator.yaml"], &extension)
		assert.Equal(t, "operator.gardener.cloud/v1alpha1", extension.APIVersion)
		assert.Equal(t, wantRegistration.ObjectMeta, extension.ObjectMeta)
		assert.Empty(t, cmp.Diff(wantRegistration.Spec.Resources, extension.Spec.Resources))
		deployment := extension.Spec.Deployment.ExtensionDeployment
		assert.Empty(t, cmp.Diff(wantOCI, deployment.Helm.OCIRepository))
		assert.Equal(t, wantRegistration.Spec.Deployment.Policy, deployment.Policy)
		assertValues(t, wantValues, deployment.Values.Raw)
		assert.NotContains(t, string(files["network/operator.yaml"]), "status")
	})
}

func TestGenerate_Deterministic(t *testing.T) {
	assert.Empty(t, cmp.Diff(generate(t, options()), generate(t, options())))
}

func TestGenerate_Options(t *testing.T) {
	const digest = "sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
	for sentence, c := range map[string]struct {
		change  func(*registration.Options)
		wantOCI gardencorev1.OCIRepository
		want    string
	}{
		"a chart by digest": {
			change:  func(o *registration.Options) { o.ChartDigests = map[string]string{"worker-controller": digest} },
			wantOCI: gardencorev1.OCIRepository{Digest: new(digest)},
			want:    `{"types": ["openstack", "aws"]}`,
		},
		"a version between releases": {
			change:  func(o *registration.Options) { o.Version = "v0.7.0-3-g1f2e3d4" },
			wantOCI: gardencorev1.OCIRepository{Tag: new("0.7.0-3-g1f2e3d4")},
			want:    `{"types": ["openstack", "aws"]}`,
		},
		"a version with what no tag can have": {
			change:  func(o *registration.Options) { o.Version = "v0.7.0+dirty" },
			wantOCI: gardencorev1.OCIRepository{Tag: new("0.7.0_dirty")},
			want:    `{"types": ["openstack", "aws"]}`,
		},
		"images from elsewhere, that of the machine controller too": {
			change: func(o *registration.Options) { o.ImageRepository = "registry.example.org/mirror" },
			want: `{"types": ["openstack", "aws"], "image": {"repository": "registry.example.org/mirror/worker-controller"},
				"machineController": {"images": {"openstack": {"repository": "registry.example.org/mirror/machine-controller-openstack"},
				"aws": {"repository": "registry.example.org/mirror/machine-controller-aws"}}}}`,
		},
		"images by digest": {
			change: func(o *registration.Options) {
				o.ImageDigests = map[string]string{"worker-controller": digest, "network-controller": strings.Replace(digest, "4", "5", 1)}
			},
			want: `{"types": ["openstack", "aws"], "image": {"digest": "` + digest + `"}}`,
		},
		"values for all and for one": {
			change: func(o *registration.Options) {
				o.ImageRepository = "registry.example.org"
				o.Values = registration.Values{
					"replicaCount": 3, "image": registration.Values{"pullPolicy": "Always", "tag": "all"}, "vpa": registration.Values{"enabled": false},
				}
				o.ValuesOf = map[string]registration.Values{
					"worker":  {"image": registration.Values{"tag": "one"}, "disableWebhooks": []any{"*"}},
					"network": {"replicaCount": 1},
				}
			},
			want: `{"types": ["openstack", "aws"], "replicaCount": 3, "vpa": {"enabled": false}, "disableWebhooks": ["*"],
				"image": {"repository": "registry.example.org/worker-controller", "pullPolicy": "Always", "tag": "one"},
				"machineController": {"images": {"openstack": {"repository": "registry.example.org/machine-controller-openstack"},
				"aws": {"repository": "registry.example.org/machine-controller-aws"}}}}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var deployment gardencorev1.ControllerDeployment
			documents(t, generate(t, options(c.change))["worker/oci.yaml"], &deployment, &gardencorev1beta1.ControllerRegistration{})
			assertValues(t, c.want, deployment.Helm.Values.Raw)
			if c.wantOCI != (gardencorev1.OCIRepository{}) {
				c.wantOCI.Repository = new("registry.example.org/trellis/charts/worker-controller")
				assert.Empty(t, cmp.Diff(&c.wantOCI, deployment.Helm.OCIRepository))
			}
		})
	}
}

func TestGenerate_ValuesOfOneEntry(t *testing.T) {
	o := options(func(o *registration.Options) {
		o.Values = registration.Values{"image": registration.Values{"pullPolicy": "Always"}}
		o.ValuesOf = map[string]registration.Values{"infrastructure": {"image": registration.Values{"tag": "one"}}}
	})
	var deployment gardencorev1.ControllerDeployment
	documents(t, generate(t, o)["worker/oci.yaml"], &deployment, &gardencorev1beta1.ControllerRegistration{})
	assertValues(t, `{"types": ["openstack", "aws"], "image": {"pullPolicy": "Always"}}`, deployment.Helm.Values.Raw)
}

func TestGenerate_CatalogueFields(t *testing.T) {
	catalogue, err := registration.Read([]byte("registrations:" + workerEntry +
		"  policy: AlwaysExceptNoShoots\n  podSecurity: baseline\n  leaderElectionID: workers\n  heartbeatNamespace: hearts\n"))
	require.NoError(t, err)
	files, err := registration.Generate(catalogue, options())
	require.NoError(t, err)

	var deployment gardencorev1.ControllerDeployment
	var got gardencorev1beta1.ControllerRegistration
	documents(t, files[0].Content, &deployment, &got)
	assertValues(t, `{"types": ["openstack"], "leaderElection": {"id": "workers"}, "heartbeat": {"namespace": "hearts"}}`, deployment.Helm.Values.Raw)
	assert.Equal(t, gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots, *got.Spec.Deployment.Policy)
	assert.Equal(t, "baseline", got.Annotations["security.gardener.cloud/pod-security-enforce"])
	assert.Equal(t, []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "openstack", Primary: new(true)}}, got.Spec.Resources)
}

func TestGenerate_UnsupportedType(t *testing.T) {
	catalogue, err := registration.Read([]byte("registrations:" + strings.Replace(workerEntry, "[openstack]", "[openstack, calico]", 1)))
	require.NoError(t, err)
	_, err = registration.Generate(catalogue, options())
	assert.ErrorContains(t, err, "rendering the chart of worker: checking values for chart worker-controller")
	assert.ErrorContains(t, err, "'/types/1': value must be one of 'openstack', 'aws'")
}

func TestGenerate_Errors(t *testing.T) {
	for sentence, c := range map[string]struct {
		entries string
		change  func(*registration.Options)
		want    string
	}{
		"without a version": {
			change: func(o *registration.Options) { o.Version = "" }, want: "version: is missing; give that of the binaries, such as v0.1.0",
		},
		"a repository that is an address": {
			change: func(o *registration.Options) { o.ChartRepository = "oci://registry.example.org" },
			want: "chart repository: \"oci://registry.example.org\" cannot be one; give a registry and a path, such as " +
				"registry.example.org/trellis/charts",
		},
		"a repository of images that ends too late": {
			change: func(o *registration.Options) { o.ImageRepository = "registry.example.org/" },
			want:   "image repository: \"registry.example.org/\" cannot be one; give a registry and a path, such as registry.example.org/trellis",
		},
		"a digest of a chart there is not": {
			change: func(o *registration.Options) { o.ChartDigests = map[string]string{"wrecker": "sha256:0"} },
			want:   "chart digest of wrecker: there is no wrecker; there are worker-controller",
		},
		"a digest that is none": {
			change: func(o *registration.Options) {
				o.ImageDigests = map[string]string{"machine-controller-openstack": "latest"}
			},
			want: "image digest of machine-controller-openstack: \"latest\" is none; it begins with sha256:",
		},
		"values for a registration there is not": {
			change: func(o *registration.Options) { o.ValuesOf = map[string]registration.Values{"worker-aws": {}} },
			want:   "values of worker-aws: there is no worker-aws; there are worker",
		},
		"types that are not registered": {
			change: func(o *registration.Options) { o.Values = registration.Values{"types": []any{"aws"}} },
			want:   "values for all registrations: types comes from charts/catalogue.yaml; remove it, or change it there",
		},
		"another leader election": {
			change: func(o *registration.Options) {
				o.ValuesOf = map[string]registration.Values{"worker": {"leaderElection": registration.Values{"id": "x"}}}
			},
			want: "values for worker: leaderElection.id comes from charts/catalogue.yaml; remove it, or change it there",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if c.entries == "" {
				c.entries = workerEntry
			}
			catalogue, err := registration.Read([]byte("registrations:" + c.entries))
			require.NoError(t, err)
			var change []func(*registration.Options)
			if c.change != nil {
				change = append(change, c.change)
			}
			_, err = registration.Generate(catalogue, options(change...))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestGenerate_InvalidSecondary(t *testing.T) {
	for want, entries := range map[string]string{
		"'/observations/0': value must be one of 'component-versions', 'certificates'": strings.NewReplacer("worker-observer", "controlplane-observer",
			"worker-controller", "controlplane-controller", "Worker", "ControlPlane").Replace(observerEntry) + "  observations: [images]\n",
		"'/observations/0': value must be one of 'images'": observerEntry + "  observations: [drift]\n",
	} {
		catalogue, err := registration.Read([]byte("registrations:" + entries))
		require.NoError(t, err)
		_, err = registration.Generate(catalogue, options())
		assert.ErrorContains(t, err, want)
	}
}

// A secondary has values of its own, needs no image of a machine controller, and is no primary in any form.
func TestGenerate_Secondary(t *testing.T) {
	catalogue, err := registration.Read([]byte("registrations:" + workerEntry + observerEntry +
		"  observations: [images, machines]\n  seedSelector: {matchLabels: {stage: canary}}\n"))
	require.NoError(t, err)
	files, err := registration.Generate(catalogue, options(func(o *registration.Options) {
		o.ImageRepository = "registry.example.org/images"
		o.ValuesOf = map[string]registration.Values{"worker-observer": {"observations": []any{"images"}, "observationInterval": "1h"}}
	}))
	require.NoError(t, err)
	contents := map[string][]byte{}
	for _, file := range files {
		contents[file.Path] = file.Content
	}
	var deployment gardencorev1.ControllerDeployment
	var got gardencorev1beta1.ControllerRegistration
	documents(t, contents["worker-observer/rawchart.yaml"], &deployment, &got)
	assert.Equal(t, []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "openstack", Primary: new(false)}}, got.Spec.Resources)
	assert.Equal(t, gardencorev1beta1.ControllerDeploymentPolicyOnDemand, *got.Spec.Deployment.Policy)
	assert.Equal(t, map[string]string{"stage": "canary"}, got.Spec.Deployment.SeedSelector.MatchLabels)
	assertValues(t, `{"types": ["openstack"], "role": "secondary", "concurrentSyncs": 2, "observations": ["images"], "observationInterval": "1h",
		"image": {"repository": "registry.example.org/images/worker-controller"}}`, deployment.Helm.Values.Raw)

	var extension operatorv1alpha1.Extension
	documents(t, contents["worker-observer/operator.yaml"], &extension)
	assert.Equal(t, got.Spec.Resources, extension.Spec.Resources)
	assert.Equal(t, got.Spec.Deployment.SeedSelector, extension.Spec.Deployment.ExtensionDeployment.SeedSelector)
}

func TestGenerate_InvalidValues(t *testing.T) {
	for want, values := range map[string]registration.Values{
		"values for all registrations: nodeNetwork: chart infrastructure-controller has no such value; it has affinity, ": {"nodeNetwork": "x"},
		"rendering the chart of infrastructure: checking values for chart infrastructure-controller: values don't meet":   {"replicaCount": -1},
	} {
		_, err := registration.Generate(trellisCatalogue(t), options(func(o *registration.Options) { o.Values = values }))
		assert.ErrorContains(t, err, want)
	}
}

// The API server keeps what kubectl applies on the client's side in an annotation, whose length is limited.
func TestGenerate_Applicable(t *testing.T) {
	for path, content := range generate(t, options()) {
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			var object any
			require.NoError(t, yaml.Unmarshal(document, &object), path)
			encoded, err := json.Marshal(object)
			require.NoError(t, err)
			assert.Less(t, len(encoded), 256<<10, path)
		}
	}
}
