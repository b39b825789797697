package workload

import (
	"context"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

func TestObserve(t *testing.T) {
	const yes, no, unknown = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ConditionUnknown
	for sentence, test := range map[string]struct {
		applied, healthy, progressing       gardencorev1beta1.ConditionStatus
		outdated                            bool
		installedErr, healthyErr, rolledErr string
	}{
		"all is well":         {applied: yes, healthy: yes, progressing: no},
		"it is not applied":   {applied: no, healthy: yes, progressing: no, installedErr: "condition ResourcesApplied of managed resource garden/%s is False: why"},
		"it is unhealthy":     {applied: yes, healthy: no, progressing: no, healthyErr: "condition ResourcesHealthy of managed resource garden/%s is False: why"},
		"it is rolling out":   {applied: yes, healthy: yes, progressing: yes, rolledErr: "condition ResourcesProgressing of managed resource garden/%s is True: why"},
		"a change is waiting": {applied: yes, healthy: yes, progressing: no, outdated: true, installedErr: "observed generation of managed resource garden/%s outdated"},
		"nobody knows": {
			applied: unknown, healthy: unknown, progressing: unknown,
			installedErr: "condition ResourcesApplied of managed resource garden/%s is Unknown: why",
			healthyErr:   "condition ResourcesHealthy of managed resource garden/%s is Unknown: why",
			rolledErr:    "condition ResourcesProgressing of managed resource garden/%s is Unknown: why",
		},
		"nobody has said anything": {
			installedErr: "condition ResourcesApplied for managed resource garden/%s has not been reported yet",
			healthyErr:   "condition ResourcesHealthy for managed resource garden/%s has not been reported yet",
			rolledErr:    "condition ResourcesProgressing for managed resource garden/%s has not been reported yet",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			require.NoError(t, s.apply(s.deployment()))
			resource := s.managedResource()
			resource.Status.ObservedGeneration = resource.Generation
			if test.outdated {
				resource.Status.ObservedGeneration--
			}
			for kind, status := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
				resourcesv1alpha1.ResourcesApplied: test.applied, resourcesv1alpha1.ResourcesHealthy: test.healthy,
				resourcesv1alpha1.ResourcesProgressing: test.progressing,
			} {
				if status != "" {
					resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
						Type: kind, Status: status, Reason: "Reason", Message: "why",
						LastTransitionTime: resource.CreationTimestamp, LastUpdateTime: resource.CreationTimestamp,
					})
				}
			}
			require.NoError(t, s.admin.Status().Update(t.Context(), resource))

			observed, err := Observe(t.Context(), s.cluster, s.installation.Name)
			require.NoError(t, err)
			assert.True(t, observed.Exists)
			assert.Equal(t, "0123456789", observed.Revision)
			assert.True(t, observed.ChangedAt.Equal(resource.CreationTimestamp.Time))
			for _, check := range []struct {
				err  error
				want string
			}{{observed.Installed, test.installedErr}, {observed.Healthy, test.healthyErr}, {observed.Progressing, test.rolledErr}} {
				if check.want == "" {
					assert.NoError(t, check.err)
					continue
				}
				require.Error(t, check.err)
				assert.Contains(t, check.err.Error(), strings.ReplaceAll(check.want, "%s", s.installation.Name))
			}
		})
	}
}

func TestChangedAt(t *testing.T) {
	minute := func(minute int) metav1.Time { return metav1.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: minute(1)}}
	assert.Equal(t, minute(1).Time, changedAt(resource))
	resource.Status.Conditions = []gardencorev1beta1.Condition{
		{LastTransitionTime: minute(2), LastUpdateTime: minute(5)}, {LastTransitionTime: minute(4), LastUpdateTime: minute(3)},
	}
	assert.Equal(t, minute(5).Time, changedAt(resource))
	resource.Status.Conditions[1].LastTransitionTime = minute(6)
	assert.Equal(t, minute(6).Time, changedAt(resource))
}

func TestObserve_NoManagedResource(t *testing.T) {
	s := newTestSeed(t)
	observed, err := Observe(t.Context(), s.cluster, s.installation.Name)
	require.NoError(t, err)
	assert.Equal(t, &Observation{}, observed)

	broken := interceptor.NewClient(s.admin, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errBroken
		},
	})
	_, err = Observe(t.Context(), &seeds.Cluster{Client: broken}, s.installation.Name)
	assert.ErrorIs(t, err, errBroken)
}
