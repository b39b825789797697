package idle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// shoots is how many shoots are idle.
	shoots = 500
	// healthInterval is the shortest time between two checks of an object.
	healthInterval = 30 * time.Second
	// budgetWaits is how often the threads of a process at rest may begin to wait in a second: each time something has woken it up. A timer for each shoot
	// takes 50.
	budgetWaits = 25.0
	prefix      = "shoot--idle--"
)

func TestIdle(t *testing.T) {
	s := clusterstest.New(t, clusters.Options{Bare: true, Seed: []seed.Option{seed.WithControlPlaneKinds()}}).Source
	binaries := []controller.Binary{controller.Infrastructure(), controller.ControlPlane(), controller.Network(), controller.Worker()}
	processes := startControllers(t, s, binaries)
	assertMemory(t, "without shoots", processes, budgetEmpty)
	for _, p := range processes { // they would reconcile what has no status yet
		require.NoError(t, p.Terminate(t.Context()))
	}

	createShoots(t, s.Client)
	processes = startControllers(t, s, binaries)
	awaitConditions(t, s.Client)
	time.Sleep(3 * time.Second) // for the checks that follow the last conditions, and until the audit log has all requests
	before := map[string]int{}
	for _, what := range binaries {
		before[what.Name] = len(requestsForShoots(t, s.AuditLog(), what))
	}
	assert.Positive(t, before[controller.ControlPlane().Name], "the conditions were written")
	assertMemory(t, fmt.Sprintf("with %d shoots", shoots), processes, budgetWithShoots)
	waits, checked := readEach(t, processes, waitsOf), healthInterval+healthInterval/2
	time.Sleep(checked) // each object is checked at least once
	for i, after := range readEach(t, processes, waitsOf) {
		each := float64(after-waits[i]) / checked.Seconds()
		t.Logf("%s: threads have begun to wait %.1f times a second", binaries[i].Name, each)
		assert.LessOrEqual(t, each, budgetWaits, "%s: how often threads have begun to wait in a second", binaries[i].Name)
	}
	for _, what := range binaries {
		assert.Empty(t, requestsForShoots(t, s.AuditLog(), what)[before[what.Name]:], "%s: healthy shoots cost no request", what.Name)
	}

	one := prefix + "0"
	unhealthy := managedResource(one, "extension-controlplane-seed")
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(unhealthy), unhealthy))
	unhealthy.Status.Conditions[1].Status, unhealthy.Status.Conditions[1].Message = gardencorev1beta1.ConditionFalse, "csi-driver-controller has no pod"
	require.NoError(t, s.Client.Status().Update(t.Context(), unhealthy))
	failing := time.Now()
	clusterstest.Eventually(t, "the ControlPlane is unhealthy", func() bool {
		return status(t, s.Client, conditionsOf(one)[0]) == gardencorev1beta1.ConditionProgressing
	})
	t.Logf("a failure was reported after %.1f s", time.Since(failing).Seconds())
}

func startControllers(t *testing.T, s *clusters.Seed, binaries []controller.Binary) []*controller.Controller {
	t.Helper()
	var started []*controller.Controller
	for _, what := range binaries {
		path, err := what.Build(t.Context())
		require.NoError(t, err)
		// As in a pod: the environment of the tests may have another setting of the garbage collector.
		options := controller.Options{Path: path, LeaderElection: true, Env: []string{"GOGC="}}
		if slices.Contains([]string{controller.ControlPlane().Name, controller.Worker().Name}, what.Name) {
			options.Args, err = what.WebhookArgs()
			require.NoError(t, err)
		}
		process, err := s.StartController(t.Context(), what, options)
		require.NoError(t, err)
		started = append(started, process)
	}
	return started
}

func createShoots(t *testing.T, c client.Client) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for i := range shoots {
		all.Go(func() error { return createShoot(t.Context(), c, fmt.Sprintf("%s%d", prefix, i)) })
	}
	require.NoError(t, all.Wait())
}

// awaitConditions waits until each shoot has all conditions.
func awaitConditions(t *testing.T, c client.Client) {
	t.Helper()
	for _, kind := range []struct {
		list  client.ObjectList
		types []gardencorev1beta1.ConditionType
	}{
		{&extensionsv1alpha1.ControlPlaneList{}, []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootControlPlaneHealthy, gardencorev1beta1.ShootSystemComponentsHealthy}},
		{&extensionsv1alpha1.NetworkList{}, []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy}},
		{&extensionsv1alpha1.WorkerList{}, []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootEveryNodeReady}},
	} {
		clusterstest.Eventually(t, fmt.Sprintf("all of %T are healthy", kind.list), func() bool {
			time.Sleep(time.Second)
			require.NoError(t, c.List(t.Context(), kind.list))
			healthy := 0
			require.NoError(t, meta.EachListItem(kind.list, func(item runtime.Object) error {
				conditions := item.(extensionsv1alpha1.Object).GetExtensionStatus().GetConditions()
				if !slices.ContainsFunc(kind.types, func(one gardencorev1beta1.ConditionType) bool { return !clusterstest.IsTrue(conditions, one) }) {
					healthy++
				}
				return nil
			}))
			return healthy == shoots
		})
	}
}

func status(t *testing.T, c client.Client, of condition) gardencorev1beta1.ConditionStatus {
	t.Helper()
	require.True(t, clusterstest.Get(t, c, of.of))
	for _, found := range of.of.(extensionsv1alpha1.Object).GetExtensionStatus().GetConditions() {
		if found.Type == of.kind {
			return found.Status
		}
	}
	return ""
}

// waitsOf returns how often the threads of a process have begun to wait.
func waitsOf(p *controller.Controller) (int64, error) { return p.Waits() }

// readEach reads a figure of each process.
func readEach(t *testing.T, processes []*controller.Controller, read func(*controller.Controller) (int64, error)) []int64 {
	t.Helper()
	all := make([]int64, 0, len(processes))
	for _, p := range processes {
		figure, err := read(p)
		require.NoError(t, err)
		all = append(all, figure)
	}
	return all
}

// requestsForShoots returns a controller's requests for objects of shoots. Watches of all namespaces are not among them.
func requestsForShoots(t *testing.T, log audit.Log, what controller.Binary) []audit.Request {
	t.Helper()
	requests, err := log.Requests(what.Name)
	require.NoError(t, err)
	return slices.DeleteFunc(requests, func(r audit.Request) bool { return !strings.HasPrefix(r.Namespace, prefix) })
}
