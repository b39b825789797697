package admission

import (
	"context"
	"errors"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func gardenWith(t *testing.T, failure error, objects ...client.Object) Garden {
	t.Helper()
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(corev1.AddToScheme, gardencorev1beta1.AddToScheme, securityv1alpha1.AddToScheme)
	require.NoError(t, builder.AddToScheme(scheme))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if failure != nil {
				return failure
			}
			return c.Get(ctx, key, object, options...)
		},
	}).Build()
	return Garden{Reader: reader}
}

func objectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func shootWith(change func(*gardencorev1beta1.ShootSpec)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: objectMeta("garden-dev", "demo")}
	change(&shoot.Spec)
	return shoot
}

func TestGarden_CloudProfileSpec(t *testing.T) {
	objects := []client.Object{
		&gardencorev1beta1.CloudProfile{ObjectMeta: objectMeta("", "openstack"), Spec: gardencorev1beta1.CloudProfileSpec{Type: "openstack"}},
		&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: objectMeta("garden-dev", "ours"), Status: gardencorev1beta1.NamespacedCloudProfileStatus{
			CloudProfileSpec: gardencorev1beta1.CloudProfileSpec{Type: "merged", Regions: []gardencorev1beta1.Region{{Name: "RegionOne"}}},
		}},
		&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: objectMeta("garden-dev", "fresh")},
	}
	for sentence, test := range map[string]struct {
		spec func(*gardencorev1beta1.ShootSpec)
		want string // type in the profile; empty for none
	}{
		"a reference names it": {want: "openstack", spec: func(s *gardencorev1beta1.ShootSpec) {
			s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "openstack"}
		}},
		"a reference without kind means a CloudProfile": {want: "openstack", spec: func(s *gardencorev1beta1.ShootSpec) {
			s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Name: "openstack"}
		}},
		"the older field names it": {want: "openstack", spec: func(s *gardencorev1beta1.ShootSpec) { s.CloudProfileName = new("openstack") }},
		"the reference wins over the older field": {want: "merged", spec: func(s *gardencorev1beta1.ShootSpec) {
			s.CloudProfileName = new("openstack")
			s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "ours"}
		}},
		"a profile of the project that nobody has put together yet": {spec: func(s *gardencorev1beta1.ShootSpec) {
			s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "fresh"}
		}},
		"one that does not exist": {spec: func(s *gardencorev1beta1.ShootSpec) { s.CloudProfileName = new("gone") }},
		"none":                    {spec: func(*gardencorev1beta1.ShootSpec) {}},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec, err := gardenWith(t, nil, objects...).CloudProfileSpec(t.Context(), shootWith(test.spec))
			require.NoError(t, err)
			if test.want == "" {
				assert.Nil(t, spec)
				return
			}
			require.NotNil(t, spec)
			assert.Equal(t, test.want, spec.Type)
		})
	}
}

func TestGarden_CredentialsOf(t *testing.T) {
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: objectMeta("garden-dev", "account"), Data: map[string][]byte{"username": []byte("secret")}},
		&gardencorev1beta1.InternalSecret{ObjectMeta: objectMeta("garden-dev", "account"), Data: map[string][]byte{"username": []byte("internal")}},
		&gardencorev1beta1.SecretBinding{ObjectMeta: objectMeta("garden-dev", "binding"), SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"}},
		credentialsBinding("to-secret", "v1", "Secret"),
		credentialsBinding("to-internal", "core.gardener.cloud/v1beta1", "InternalSecret"),
		credentialsBinding("to-identity", "security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
	}
	for sentence, test := range map[string]struct{ binding, secretBinding, want string }{
		"a binding refers to a Secret":             {binding: "to-secret", want: "secret"},
		"a binding refers to an InternalSecret":    {binding: "to-internal", want: "internal"},
		"a binding refers to something else":       {binding: "to-identity"},
		"an older binding":                         {secretBinding: "binding", want: "secret"},
		"a binding that does not exist":            {binding: "gone"},
		"an older binding that does not exist":     {secretBinding: "gone"},
		"neither, as of a shoot that hosts itself": {},
	} {
		t.Run(sentence, func(t *testing.T) {
			data, err := gardenWith(t, nil, objects...).CredentialsOf(t.Context(), shootWith(func(s *gardencorev1beta1.ShootSpec) {
				if test.binding != "" {
					s.CredentialsBindingName = &test.binding
				}
				if test.secretBinding != "" {
					s.SecretBindingName = &test.secretBinding
				}
			}))
			require.NoError(t, err)
			assert.Equal(t, test.want, string(data["username"]))
		})
	}
}

func credentialsBinding(name, version, kind string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     objectMeta("garden-dev", name),
		CredentialsRef: corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: "garden-dev", Name: "account"},
	}
}

func TestGarden_APIServerUnavailable(t *testing.T) {
	garden := gardenWith(t, errors.New("connection refused"))
	shoot := shootWith(func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfileName, s.SecretBindingName = new("openstack"), new("binding")
	})
	_, err := garden.CloudProfileSpec(t.Context(), shoot)
	assert.EqualError(t, err, `reading *v1beta1.CloudProfile "openstack": connection refused`)
	_, err = garden.CredentialsOf(t.Context(), shoot)
	assert.EqualError(t, err, `reading *v1beta1.SecretBinding "binding": connection refused`)
}
