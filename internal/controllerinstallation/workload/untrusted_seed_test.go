package workload

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/truncate"
)

func TestNeeded_EndlessPages(t *testing.T) {
	for sentence, tt := range map[string]struct {
		marker func(page int64) string
		want   string
	}{
		"the same page for ever":  {func(int64) string { return "more" }, "gives the same page again and again"},
		"always another new page": {func(page int64) string { return fmt.Sprint("more", page) }, "gives more than 25000 objects, or pages for them"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var pages atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
				answer.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(answer, `{"apiVersion":"extensions.gardener.cloud/v1alpha1","kind":"WorkerList","metadata":{"continue":%q},"items":[]}`,
					tt.marker(pages.Add(1)))
			}))
			t.Cleanup(server.Close)
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(extensionsv1alpha1.SchemeGroupVersion.WithKind("Worker"), meta.RESTScopeNamespace)
			c, err := client.New(&rest.Config{Host: server.URL, QPS: -1}, client.Options{Mapper: mapper})
			require.NoError(t, err)

			_, err = Needed(t.Context(), &seeds.Cluster{Client: c}, []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "a"}})
			require.ErrorContains(t, err, tt.want)
			assert.LessOrEqual(t, pages.Load(), int64(maxObjects/pageSize))
		})
	}
}

func TestObserve_TruncatesMessages(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	resource := s.managedResource()
	resource.Status.ObservedGeneration = resource.Generation
	for _, kind := range []gardencorev1beta1.ConditionType{
		resourcesv1alpha1.ResourcesApplied, resourcesv1alpha1.ResourcesHealthy, resourcesv1alpha1.ResourcesProgressing,
	} {
		resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
			Type: kind, Status: gardencorev1beta1.ConditionUnknown, Reason: "Reason", Message: "\x1b[2J" + strings.Repeat("lies ", 50_000),
			LastTransitionTime: resource.CreationTimestamp, LastUpdateTime: resource.CreationTimestamp,
		})
	}
	require.NoError(t, s.admin.Status().Update(t.Context(), resource))
	observed, err := Observe(t.Context(), s.cluster, s.installation.Name)
	require.NoError(t, err)
	for _, message := range []error{observed.Installed, observed.Healthy, observed.Progressing} {
		require.Error(t, message)
		assert.LessOrEqual(t, len(message.Error()), truncate.MaxExternal)
		assert.Contains(t, message.Error(), "lies")
		assert.NotContains(t, message.Error(), "\x1b")
	}
	resource.Status.Conditions[0].Reason = resourcesv1alpha1.ConditionDeletionPending
	assert.LessOrEqual(t, len(deletionMessage(resource)), truncate.MaxExternal)
	namespace := &corev1.Namespace{Status: corev1.NamespaceStatus{Conditions: []corev1.NamespaceCondition{
		{Status: corev1.ConditionTrue, Message: strings.Repeat("a", 5_000)}, {Status: corev1.ConditionTrue, Message: strings.Repeat("b", 5_000)},
	}}}
	assert.LessOrEqual(t, len(terminationMessage(namespace)), truncate.MaxExternal)
	resource.Labels = map[string]string{labelInstallation: strings.Repeat("a", 5_000)}
	require.Error(t, checkWritable(resource, "network"))
	assert.Less(t, len(checkWritable(resource, "network").Error()), 2*truncate.MaxExternal)
}
