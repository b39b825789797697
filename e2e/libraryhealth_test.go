package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	extensionsconfigv1alpha1 "github.com/gardener/gardener/extensions/pkg/apis/config/v1alpha1"
	"github.com/gardener/gardener/extensions/pkg/controller/healthcheck"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

const (
	// libraryUser is the user of the library's health checks.
	libraryUser = "library-health-checks"
	// libraryCondition is the condition that they write.
	libraryCondition = gardencorev1beta1.ShootControlPlaneHealthy
	// libraryMessage is its message, with the numbers of a round and of a check.
	libraryMessage = "round %d, check %d"
	// libraryInterval is the time between two checks of an object.
	libraryInterval = 5 * time.Second
)

// libraryHealth is the controller of health checks of Gardener's library for extensions, which writes conditions of all Infrastructures: of each check
// another one. Each check finds the object unhealthy, since the library's message for healthy ones is always the same.
type libraryHealth struct {
	round, checks atomic.Int64
	stop          func()
}

var _ healthcheck.HealthCheck = (*libraryHealth)(nil)

// startLibraryHealth starts the controller, with a cache as all extensions have it: its reads may be older than its last writes.
func startLibraryHealth(t *testing.T, env *testenv.Env) *libraryHealth {
	t.Helper()
	path, err := env.Seed.AddController(t.Context(), libraryUser, libraryRights())
	require.NoError(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Clean(path))
	require.NoError(t, err)
	config.QPS = -1
	mgr, err := manager.New(config, manager.Options{
		Scheme: kubernetes.SeedScheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	h := &libraryHealth{}
	require.NoError(t, healthcheck.DefaultRegistration(
		"openstack", extensionsv1alpha1.SchemeGroupVersion.WithKind(extensionsv1alpha1.InfrastructureResource),
		func() client.ObjectList { return &extensionsv1alpha1.InfrastructureList{} },
		func() extensionsv1alpha1.Object { return &extensionsv1alpha1.Infrastructure{} },
		mgr,
		healthcheck.DefaultAddArgs{
			Controller:        controller.Options{MaxConcurrentReconciles: 5},
			HealthCheckConfig: extensionsconfigv1alpha1.HealthCheckConfig{SyncPeriod: metav1.Duration{Duration: libraryInterval}},
		},
		nil, []healthcheck.ConditionTypeToHealthCheck{{ConditionType: string(libraryCondition), HealthCheck: h}}, nil,
	))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	h.stop = func() {
		cancel()
		assert.NoError(t, <-ended)
		h.stop = func() {}
	}
	t.Cleanup(func() { h.stop() })
	return h
}

func libraryRights() seed.Role {
	return seed.Role{Cluster: []rbacv1.PolicyRule{
		{APIGroups: []string{extensionsv1alpha1.SchemeGroupVersion.Group}, Resources: []string{"infrastructures", "clusters"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{extensionsv1alpha1.SchemeGroupVersion.Group}, Resources: []string{"infrastructures/status"}, Verbs: []string{"update"}},
	}}
}

// Check implements healthcheck.HealthCheck.
func (h *libraryHealth) Check(context.Context, types.NamespacedName) (*healthcheck.SingleCheckResult, error) {
	return &healthcheck.SingleCheckResult{
		Status: gardencorev1beta1.ConditionFalse, Detail: fmt.Sprintf(libraryMessage, h.round.Load(), h.checks.Add(1)),
	}, nil
}

// SetLoggerSuffix implements healthcheck.HealthCheck.
func (h *libraryHealth) SetLoggerSuffix(string, string) {}
