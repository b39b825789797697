package revision

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// server is one real API server for all tests, started by the first that asks for it. Each test has a deployment of its own.
var server struct {
	once        sync.Once
	environment *envtest.Environment
	client      client.WithWatch
	err         error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.environment != nil {
		if err := server.environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func garden(t *testing.T) client.WithWatch {
	t.Helper()
	server.once.Do(func() {
		ctrllog.SetLogger(logr.Discard())
		assets := os.Getenv("KUBEBUILDER_ASSETS")
		if assets == "" {
			assets = filepath.Join("..", "..", "..", ".cache", "envtest")
		}
		server.environment = &envtest.Environment{
			BinaryAssetsDirectory: assets, ControlPlaneStartTimeout: 5 * time.Minute, ControlPlaneStopTimeout: time.Minute,
		}
		config, err := server.environment.Start()
		if server.err = err; err != nil {
			return
		}
		config.QPS = -1
		if server.client, server.err = client.NewWithWatch(config, client.Options{}); server.err == nil {
			server.err = server.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		}
	})
	require.NoError(t, server.err, "is there an API server? make envtest-assets builds one")
	return server.client
}

// testStore is a deployment with its store, in which nothing is kept yet.
type testStore struct {
	Store

	t          *testing.T
	deployment *gardencorev1.ControllerDeployment
}

func newTestStore(t *testing.T, deployment string) *testStore {
	t.Helper()
	require.NoError(t, garden(t).DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace(namespace), client.MatchingLabels{labelDeployment: deployment}))
	return &testStore{Store: Store{Client: garden(t)}, t: t, deployment: &gardencorev1.ControllerDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: deployment, UID: types.UID("uid-of-" + deployment)},
	}}
}

func contentOf(chart string) *Content { return &Content{Chart: []byte(chart)} }

func nameOf(t *testing.T, content *Content) string {
	t.Helper()
	name, err := content.Name()
	require.NoError(t, err)
	return name
}

// record records charts one after the other, and returns what was said of the last.
func (b *testStore) record(charts ...string) *Info {
	b.t.Helper()
	var info *Info
	var err error
	for _, chart := range charts {
		info, err = b.Record(b.t.Context(), b.deployment, contentOf(chart))
		require.NoError(b.t, err)
	}
	return info
}

func (b *testStore) setResult(chart string, result Result) {
	b.t.Helper()
	require.NoError(b.t, b.SetResult(b.t.Context(), b.deployment.Name, b.info(chart), result, ""))
}

// info is what is known of a chart's revision now.
func (b *testStore) info(chart string) Info {
	b.t.Helper()
	all, err := b.List(b.t.Context(), b.deployment.Name)
	require.NoError(b.t, err)
	at := slices.IndexFunc(all, func(info Info) bool { return info.Name == nameOf(b.t, contentOf(chart)) })
	require.GreaterOrEqual(b.t, at, 0, chart)
	return all[at]
}

// revisions returns all revisions by the charts that they are of, with number and result.
func (b *testStore) revisions(charts ...string) []string {
	b.t.Helper()
	all, err := b.List(b.t.Context(), b.deployment.Name)
	require.NoError(b.t, err)
	chartOf := map[string]string{}
	for _, chart := range charts {
		chartOf[nameOf(b.t, contentOf(chart))] = chart
	}
	revisions := []string{}
	for _, info := range all {
		revisions = append(revisions, fmt.Sprintf("%d %s %s", info.Number, chartOf[info.Name], info.Result))
	}
	return revisions
}

// object returns the object of a chart as the API server has it.
func (b *testStore) object(chart string) *metav1.PartialObjectMetadata {
	b.t.Helper()
	k, err := b.get(b.t.Context(), b.deployment.Name, nameOf(b.t, contentOf(chart)))
	require.NoError(b.t, err)
	return k.object
}
