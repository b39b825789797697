package webhooks

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// testRefusals sends what cannot be tuned. The request is refused with a sentence that says what is wrong where, and what was
// there before stays.
func testRefusals(t *testing.T, env *environment) {
	shoot := newShoot("refused")
	env.prepare(t, shoot)
	good := golden(t, "1.36", "osc-reconcile.before", shoot.Namespace())
	require.NoError(t, env.Client.Create(t.Context(), good))

	for sentence, test := range map[string]struct {
		damage func(*testing.T, *extensionsv1alpha1.OperatingSystemConfigSpec)
		want   string
	}{
		"a unit that starts no kubelet": {
			func(t *testing.T, spec *extensionsv1alpha1.OperatingSystemConfigSpec) {
				unit := kubeletUnit(t, spec)
				*unit = strings.Replace(*unit, "ExecStart=", "ExecEnd=", 1)
			},
			"spec.units[kubelet.service].content: Invalid value: expected exactly one ExecStart in the section Service",
		},
		"a configuration in no encoding": {
			func(t *testing.T, spec *extensionsv1alpha1.OperatingSystemConfigSpec) {
				kubeletConfig(t, spec).Data = "{}"
			},
			"spec.files[/var/lib/kubelet/config/kubelet].content.inline: Invalid value: decoding b64: illegal base64 data at input byte 0",
		},
		"a configuration of something else": {
			func(t *testing.T, spec *extensionsv1alpha1.OperatingSystemConfigSpec) {
				kubeletConfig(t, spec).Data = base64.StdEncoding.EncodeToString([]byte("kind: Pod"))
			},
			"spec.files[/var/lib/kubelet/config/kubelet].content.inline: Invalid value: expected a document of kind KubeletConfiguration",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := &extensionsv1alpha1.OperatingSystemConfig{}
			before := golden(t, "1.36", "osc-reconcile.before", shoot.Namespace())
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(before.Object, config))
			test.damage(t, &config.Spec)
			want := `admission webhook "operatingsystemconfig.openstack.controlplane-controller.extensions.gardener.cloud" denied the request: ` +
				"tuning OperatingSystemConfig " + shoot.Namespace() + "/" + config.Name + ": " + test.want
			another := config.DeepCopy()
			another.Name = "another"
			assert.ErrorContains(t, env.Client.Create(t.Context(), another), strings.Replace(want, config.Name, another.Name, 1))

			config.ResourceVersion = good.GetResourceVersion()
			assert.ErrorContains(t, env.Client.Update(t.Context(), config), want)
			assert.Equal(t, good.Object, env.stored(t, good).Object)
		})
	}
	testMissingInput(t, env)
}

// testMissingInput asks for what takes knowledge that is missing.
func testMissingInput(t *testing.T, env *environment) {
	t.Run("there is no Cluster", func(t *testing.T) {
		env.newNamespace(t, "shoot--dev--unknown", map[string]string{"shoot.gardener.cloud/provider": "openstack"})
		object := golden(t, "1.36", "kube-apiserver.before", "shoot--dev--unknown")
		assert.ErrorContains(t, env.Client.Create(t.Context(), object),
			`admission webhook "controlplane.openstack.controlplane-controller.extensions.gardener.cloud" denied the request: `+
				"tuning Deployment shoot--dev--unknown/kube-apiserver: there is no Cluster resource of the namespace's name")
	})
	t.Run("the cloud profile is damaged: the Secret passes and leads nowhere", func(t *testing.T) {
		shoot := newShoot("damaged")
		env.prepare(t, shoot)
		require.Equal(t, keystoneURL, string(env.secret(t, shoot.Namespace(), "cloudprovider").Data["authURL"]))
		shoot.CloudProfileConfig = json.RawMessage(`{"apiVersion":"` + openstackv1alpha1.GroupVersion().String() + `","kind":"Other"}`)
		shoot.Credentials["password"], shoot.Credentials["authURL"] = []byte("another"), []byte("https://elsewhere.example.org")
		env.prepare(t, shoot)
		data := texts(env.secret(t, shoot.Namespace(), "cloudprovider").Data)
		assert.Equal(t, "another", data["password"])
		assert.NotContains(t, data, "authURL")

		other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace(), Name: "other"}}
		assert.NoError(t, env.Client.Create(t.Context(), other), "which says nothing about anything else")
	})
}

func kubeletUnit(t *testing.T, spec *extensionsv1alpha1.OperatingSystemConfigSpec) *string {
	t.Helper()
	for i := range spec.Units {
		if spec.Units[i].Name == "kubelet.service" {
			return spec.Units[i].Content
		}
	}
	require.Fail(t, "there is no kubelet")
	return nil
}

func kubeletConfig(t *testing.T, spec *extensionsv1alpha1.OperatingSystemConfigSpec) *extensionsv1alpha1.FileContentInline {
	t.Helper()
	for _, file := range spec.Files {
		if file.Path == "/var/lib/kubelet/config/kubelet" {
			return file.Content.Inline
		}
	}
	require.Fail(t, "there is no configuration")
	return nil
}
