package seeds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1alpha1 "github.com/gardener/gardener/pkg/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	seedmanagementv1alpha1 "github.com/gardener/gardener/pkg/apis/seedmanagement/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// timeout is longer than anything takes that ends.
	timeout = 5 * time.Minute
	// interval is how long they wait before they look again.
	interval = 50 * time.Millisecond
	// shortTimeout is the request timeout in tests that wait for it to pass. A third of it is enough to connect.
	shortTimeout = 3 * time.Second
)

var shared environment

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// environment is a real API server. It is garden and seed at the same time: what tells one from the other is who is in front of it.
type environment struct {
	once   sync.Once
	err    error
	stop   func() error
	config *rest.Config
	client client.Client
}

// start returns the API server, which runs until the last test has ended.
func start(t *testing.T) *environment {
	t.Helper()
	shared.once.Do(func() { shared.err = shared.run(context.WithoutCancel(t.Context())) })
	require.NoError(t, shared.err, "is there an API server? make envtest-assets builds one")
	return &shared
}

func (e *environment) run(ctx context.Context) error {
	ctrllog.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", "..", ".cache", "envtest")
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets, CRDs: []*apiextensionsv1.CustomResourceDefinition{
		kind("seedmanagement.gardener.cloud", "v1alpha1", "managedseeds", "ManagedSeed"),
		kind("core.gardener.cloud", "v1beta1", "shoots", "Shoot"),
	}}
	config, err := env.Start()
	if err != nil {
		return err
	}
	e.stop, e.config = env.Stop, config
	config.QPS = -1
	if e.client, err = client.New(config, client.Options{Scheme: gardenScheme()}); err != nil {
		return err
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden"}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "admin"}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "admin-of-tests"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "garden", Name: "admin"}},
		},
	} {
		if err := e.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// kind defines a custom resource with any fields.
func kind(group, version, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}

func gardenScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, gardencorev1beta1.AddToScheme, seedmanagementv1alpha1.AddToScheme,
		authenticationv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// token returns a new token of an administrator. No two are alike.
func (e *environment) token(t *testing.T) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	admin := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "admin"}}
	require.NoError(t, e.client.SubResource("token").Create(t.Context(), admin, request))
	return request.Status.Token
}

func newClock() *clocktesting.FakePassiveClock { return clocktesting.NewFakePassiveClock(time.Now()) }

func seedOf(name string) *gardencorev1beta1.Seed {
	return &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// unreachable demands that an error says that a seed cannot be reached.
func unreachable(t *testing.T, err error, seed string) *Unreachable {
	t.Helper()
	require.Error(t, err)
	failure, ok := errors.AsType[*Unreachable](err)
	require.True(t, ok, "%T: %v", err, err)
	require.Equal(t, seed, failure.Seed)
	return failure
}

// listNodes is a call like any other.
func listNodes(ctx context.Context, cluster *Cluster) error {
	return cluster.Client.List(ctx, &corev1.NodeList{})
}

// testProxyConfig is an administrator's configuration that leads to a front.
func testProxyConfig(t *testing.T, env *environment, f *testProxy) *rest.Config {
	t.Helper()
	return &rest.Config{Host: f.URL, BearerToken: env.token(t), TLSClientConfig: rest.TLSClientConfig{CAData: f.certificate()}}
}

// detached is for what is cleaned up.
func detached(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }
