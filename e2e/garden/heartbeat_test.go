package garden

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/gardener/gardener/pkg/gardenlet/controller/shoot/care"
	"github.com/gardener/gardener/pkg/gardenlet/operation/seed"
	"github.com/gardener/gardener/pkg/gardenlet/operation/shoot"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// outdated is the reason that gardenlet gives a condition of a shoot instead of the one that the Worker reports.
const outdated = "WorkerOutdatedHealthCheckReport"

// testHeartbeat lets gardenlet's care controller rate the condition of the primary by the Lease of the secondary.
func testHeartbeat(t *testing.T, o *observed) {
	primaryLease := o.lease(namespaceOf(o.installed(t, primary)).Name)
	renew := func(at time.Time) {
		primaryLease.Spec.RenewTime = new(metav1.NewMicroTime(at))
		require.NoError(t, o.cluster.Client.Update(t.Context(), primaryLease))
	}
	primaryLease.Spec.RenewTime = new(metav1.NowMicro())
	require.NoError(t, o.cluster.Client.Create(t.Context(), primaryLease)) // nothing runs that renews it
	defer func() { assert.NoError(t, o.cluster.Client.Delete(t.Context(), primaryLease)) }()
	assertReasons := func(now clock.Clock, ofPrimary, ofSecondary bool) {
		t.Helper()
		for first, want := range map[string]bool{primary: ofPrimary, secondary: ofSecondary} {
			condition := o.care(t, now, first)
			assert.Equal(t, want, condition.Reason == outdated, "if gardenlet reads the Lease of %s: %s %s, %s", first, condition.Status, condition.Reason, condition.Message)
			if want {
				assert.Equal(t, gardencorev1beta1.ConditionUnknown, condition.Status)
			}
		}
	}
	o.awaitRenewal(t)
	assertReasons(clock.RealClock{}, false, false)

	// All observations are off while the marker is missing. The Lease does not depend on them.
	o.switchOff(t)
	o.awaitRenewal(t)
	assertReasons(clock.RealClock{}, false, false)
	o.switchOn(t)

	// Another replica renews the Lease after the leader has ended.
	leader := o.process
	o.start(t)
	require.NoError(t, leader.Terminate(t.Context()))
	o.awaitRenewal(t)

	// No replica: the primary works, and its own Lease is new.
	require.NoError(t, o.process.Terminate(t.Context()))
	later := testclock.NewFakeClock(time.Now().Add(4 * time.Minute))
	renew(later.Now())
	assertReasons(later, false, false)
	later.Step(2 * time.Minute)
	renew(later.Now())
	assertReasons(later, false, true)
	require.NoError(t, o.cluster.Client.Delete(t.Context(), o.lease(o.namespace)))
	renew(time.Now())
	assertReasons(clock.RealClock{}, false, true)

	o.start(t)
	o.awaitRenewal(t)
	assertReasons(clock.RealClock{}, false, false)
}

func (o *observed) lease(namespace string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: extensions.HeartBeatResourceName, Namespace: namespace}}
}

// awaitRenewal waits until the Lease of the secondary is renewed.
func (o *observed) awaitRenewal(t *testing.T) {
	t.Helper()
	start, lease := metav1.NowMicro(), o.lease(o.namespace)
	eventually(t, "the secondary has renewed its Lease", func() bool {
		return exists(t, o.cluster.Client, lease) && start.Before(lease.Spec.RenewTime)
	})
}

// switchOff deletes the ConfigMap that marks the installation, which gardener-resource-manager would create again, and waits until the controller has
// removed all conditions.
func (o *observed) switchOff(t *testing.T) {
	t.Helper()
	o.ignore(t, true)
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gardener-extension-" + secondary + "-observations", Namespace: o.namespace}}
	eventually(t, "the marker is gone", func() bool {
		err := o.cluster.Client.Delete(t.Context(), marker) // again, if it was created meanwhile
		require.NoError(t, client.IgnoreNotFound(err))
		return err != nil
	})
	require.True(t, exists(t, o.cluster.Client, o.worker))
	assert.False(t, slices.ContainsFunc(o.worker.Status.Conditions, isObserved), "the conditions are removed before the marker")
}

// switchOn lets gardener-resource-manager create the ConfigMap again.
func (o *observed) switchOn(t *testing.T) {
	t.Helper()
	o.ignore(t, false)
	o.waitObserved(t)
}

// ignore makes gardener-resource-manager ignore the installation, or not any more.
func (o *observed) ignore(t *testing.T, ignored bool) {
	t.Helper()
	managed := o.managedResource(t, o.installed(t, secondary))
	require.NoError(t, change(t, o.cluster.Client, managed, func(m *resourcesv1alpha1.ManagedResource) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, resourcesv1alpha1.Ignore, strconv.FormatBool(ignored))
	}))
}

// care returns gardenlet's condition of the nodes of the shoot. Gardenlet reads the Lease of the first installation in its cache that serves the kind and
// type, where the order is none.
func (o *observed) care(t *testing.T, now clock.Clock, first string) gardencorev1beta1.Condition {
	t.Helper()
	set, err := kubernetes.NewWithConfig(
		kubernetes.WithRESTConfig(o.cluster.Config), kubernetes.WithClientOptions(client.Options{Scheme: kubernetes.SeedScheme}), kubernetes.WithDisabledCachedClient(),
	)
	require.NoError(t, err)
	info := &gardencorev1beta1.Shoot{}
	info.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "pool"}}
	cared := &shoot.Shoot{ControlPlaneNamespace: o.worker.Namespace, BackupEntryName: "none"}
	cared.SetInfo(info)
	on := &seed.Seed{}
	on.SetInfo(&gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	config := &gardenletconfigv1alpha1.GardenletConfiguration{
		SeedConfig: &gardenletconfigv1alpha1.SeedConfig{SeedTemplate: gardencorev1beta1.SeedTemplate{ObjectMeta: metav1.ObjectMeta{Name: "one"}}},
	}
	gardenletconfigv1alpha1.SetObjectDefaults_GardenletConfiguration(config)
	health := care.NewHealth(testr.New(t), cared, on, set, orderedGarden{o.Client, first},
		func() (kubernetes.Interface, bool, error) { return set, true, nil }, now, config, nil)
	threshold := config.Controllers.ShootCare.StaleExtensionHealthChecks
	require.True(t, threshold.Enabled, "gardenlet's default")
	conditions := health.Check(t.Context(), threshold.Threshold, care.NewShootConditions(now, info))
	condition := v1beta1helper.GetCondition(conditions, gardencorev1beta1.ShootEveryNodeReady)
	require.NotNil(t, condition)
	return *condition
}

// orderedGarden lists the installations of a registration before all others.
type orderedGarden struct {
	client.Client
	first string
}

// List implements client.Client.
func (g orderedGarden) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := g.Client.List(ctx, list, options...); err != nil {
		return err
	}
	if installations, is := list.(*gardencorev1beta1.ControllerInstallationList); is {
		slices.SortStableFunc(installations.Items, func(a, b gardencorev1beta1.ControllerInstallation) int {
			return strings.Compare(g.rank(a), g.rank(b))
		})
	}
	return nil
}

func (g orderedGarden) rank(installation gardencorev1beta1.ControllerInstallation) string {
	if installation.Spec.RegistrationRef.Name == g.first {
		return ""
	}
	return installation.Name
}

func managedResources() schema.GroupVersionKind {
	return resourcesv1alpha1.SchemeGroupVersion.WithKind("ManagedResourceList")
}
