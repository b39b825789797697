package landscape_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

func domainSecret(name, role, domain, provider, priority string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "seed-eu1", Name: name, Labels: map[string]string{"gardener.cloud/role": role},
		Annotations: map[string]string{
			"dns.gardener.cloud/domain": domain, "dns.gardener.cloud/provider": provider, "dns.gardener.cloud/domain-default-priority": priority,
		},
	}}
}

// objectsOf makes a garden's objects those of an API server.
func objectsOf(g *landscape.Garden) []client.Object {
	var objects []client.Object
	for i := range g.Seeds {
		objects = append(objects, &g.Seeds[i])
	}
	for i := range g.Shoots {
		objects = append(objects, &g.Shoots[i])
	}
	for i := range g.Registrations {
		objects = append(objects, &g.Registrations[i])
	}
	for i := range g.Installations {
		objects = append(objects, &g.Installations[i])
	}
	return objects
}

func newClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, landscape.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func TestRead(t *testing.T) {
	objects := append(objectsOf(served()),
		&gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "os-gardenlinux"}},
		&gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "openstack"}},
		new(bucket("b", "eu1", "swift")), new(entry("e", "eu1", "b")),
		domainSecret("internal", "internal-domain", "internal.example.org", "designate", ""),
		domainSecret("low", "default-domain", "low.example.org", "designate", ""),
		domainSecret("high", "default-domain", "high.example.org", "route53", "5"),
		domainSecret("monitoring", "global-monitoring", "other.example.org", "wrong", "9"),
	)
	g, err := landscape.Read(t.Context(), newClient(t, interceptor.Funcs{}, objects...))
	require.NoError(t, err)

	assert.Equal(t, []int{5, 1, 5, 1, 1, 1, 1, 1}, []int{
		len(g.Registrations), len(g.Deployments), len(g.Installations), len(g.Seeds), len(g.Shoots), len(g.CloudProfiles),
		len(g.BackupBuckets), len(g.BackupEntries),
	})
	want := map[string]landscape.Domains{"eu1": {
		Internal: &landscape.Domain{Name: "internal.example.org", Provider: "designate"},
		Defaults: []landscape.Domain{{Name: "high.example.org", Provider: "route53"}, {Name: "low.example.org", Provider: "designate"}},
	}}
	assert.Empty(t, cmp.Diff(want, g.Domains))
}

func TestRead_DomainsInSeed(t *testing.T) {
	explicit := seed(func(s *gardencorev1beta1.Seed) {
		s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "designate", Domain: "internal.example.org"}
		s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "route53", Domain: "example.org"}}
	})
	g, err := landscape.Read(t.Context(), newClient(t, withoutSecrets(), &explicit))
	require.NoError(t, err)
	want := map[string]landscape.Domains{"eu1": {
		Internal: &landscape.Domain{Name: "internal.example.org", Provider: "designate"},
		Defaults: []landscape.Domain{{Name: "example.org", Provider: "route53"}},
	}}
	assert.Empty(t, cmp.Diff(want, g.Domains))
}

func TestRead_SecretsForbidden(t *testing.T) {
	g, err := landscape.Read(t.Context(), newClient(t, withoutSecrets(), new(seed())))
	require.NoError(t, err)
	assert.Equal(t, "DNSRecords of shoots: unknown. The seed names no domains (spec.dns.internal, spec.dns.defaults), and the Secrets with them "+
		"cannot be listed; allow to list secrets in namespace seed-eu1, of which metadata is read only", g.Domains["eu1"].Unknown)

	report, err := landscape.Inspect(g)
	require.NoError(t, err)
	assert.Contains(t, report.Seeds[0].Notes, g.Domains["eu1"].Unknown)
}

func TestRead_ListForbidden(t *testing.T) {
	_, err := landscape.Read(t.Context(), newClient(t, forbidding("*v1beta1.ShootList")))
	assert.ErrorContains(t, err, "listing shoots of all namespaces in the virtual garden: ")
}

func TestRead_NotAGarden(t *testing.T) {
	elsewhere := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "core.gardener.cloud", Kind: "ControllerRegistration"}}
	}}
	_, err := landscape.Read(t.Context(), newClient(t, elsewhere))
	assert.ErrorContains(t, err, "listing controllerregistrations: this is no virtual garden")
}

func withoutSecrets() interceptor.Funcs { return forbidding("*v1.PartialObjectMetadataList") }

// forbidding refuses lists of one Go type.
func forbidding(typ string) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if fmt.Sprintf("%T", list) == typ {
			return apierrors.NewForbidden(schema.GroupResource{}, "", nil)
		}
		return c.List(ctx, list, opts...)
	}}
}

func TestRead_References(t *testing.T) {
	deployment := func(name string, references ...landscape.Reference) *gardencorev1.ControllerDeployment {
		g := &landscape.Garden{Deployments: []gardencorev1.ControllerDeployment{{ObjectMeta: metav1.ObjectMeta{Name: name}}}}
		refersTo(references...)(g)
		return &g.Deployments[0]
	}
	secret, config := landscape.Reference{Kind: "Secret", Name: "cat"}, landscape.Reference{Kind: "ConfigMap", Name: "cat"}
	gone := landscape.Reference{Kind: "Secret", Name: "gone"}
	objects := []client.Object{
		deployment("one", secret, config), deployment("two", gone, secret), deployment("three"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "cat"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "gone"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "cat"}},
	}
	g, err := landscape.Read(t.Context(), newClient(t, interceptor.Funcs{}, objects...))
	require.NoError(t, err)
	assert.Equal(t, map[landscape.Reference]bool{secret: true, config: true, gone: false}, g.References)

	noSecrets := func(err error) interceptor.Funcs {
		return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if object.GetObjectKind().GroupVersionKind().Kind == "Secret" {
				return err
			}
			return c.Get(ctx, key, object, opts...)
		}}
	}
	g, err = landscape.Read(t.Context(), newClient(t, noSecrets(apierrors.NewForbidden(schema.GroupResource{}, "", nil)), objects...))
	require.NoError(t, err)
	assert.Equal(t, map[landscape.Reference]bool{config: true}, g.References)

	_, err = landscape.Read(t.Context(), newClient(t, noSecrets(errors.New("no answer")), objects...))
	assert.EqualError(t, err, "looking for Secret garden/cat in the virtual garden: no answer")
}
