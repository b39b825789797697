package installationcontroller

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// TestMain is what the operator begins with: charts are rendered by this binary, too.
func TestMain(m *testing.M) {
	rendering.RunIfChild()
	os.Exit(m.Run())
}

// accessStub leads into one seed, or says why it cannot.
type accessStub struct {
	cluster *seeds.Cluster
	err     error
}

func (a *accessStub) Connect(context.Context, *gardencorev1beta1.Seed) (*seeds.Cluster, error) {
	return a.cluster, a.err
}
func (a *accessStub) Forget(string) {}

// assignerStub assigns one revision.
type assignerStub struct{ content *revision.Content }

func (a assignerStub) assign(context.Context, *gardencorev1beta1.ControllerInstallation) (*assignment, error) {
	return &assignment{relation: state.Ours, revision: "r2", isOnTrial: true}, nil
}

func (a assignerStub) loadRevision(context.Context, *gardencorev1beta1.ControllerInstallation, string) (*loadedRevision, error) {
	return newLoadedRevision(a.content)
}

func emptyChart(t *testing.T) []byte {
	t.Helper()
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	archive := tar.NewWriter(zip)
	const description = "apiVersion: v2\nname: example\nversion: 0.1.0\n"
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: "example/Chart.yaml", Mode: 0o644, Size: int64(len(description))}))
	_, err := archive.Write([]byte(description))
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	require.NoError(t, zip.Close())
	return content.Bytes()
}

// injectedFailures are the parts of an environment that fail.
type injectedFailures struct {
	identity, claim, seed, write error
	access                       error
	render                       rendering.Limits
}

func (b injectedFailures) reconciler(t *testing.T) *reconciler {
	t.Helper()
	garden := interceptor.NewClient(nil, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			if config, is := object.(*corev1.ConfigMap); is {
				config.Data = map[string]string{"cluster-identity": "garden"}
				return b.identity
			}
			return nil
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return b.claim
		},
	})
	missing := apierrors.NewNotFound(schema.GroupResource{}, "")
	seed := interceptor.NewClient(nil, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			if _, isGardenlet := object.(*appsv1.Deployment); isGardenlet && b.seed != nil {
				return b.seed
			}
			return missing
		},
		List:   func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil },
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return b.write },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return b.write
		},
	})
	renderer, err := rendering.New(b.render)
	require.NoError(t, err)
	return &reconciler{
		Options: Options{
			Garden: workload.Garden{Address: "https://garden"}, Client: garden, State: state.New(),
			Access:     &accessStub{&seeds.Cluster{Client: seed, KubernetesVersion: "v1.36.3"}, b.access},
			Controller: controller.Options{ReconciliationTimeout: time.Minute},
		},
		identity: newIdentity(garden), renderer: renderer, assigner: assignerStub{&revision.Content{Chart: emptyChart(t)}},
	}
}

// Only what a seed answers, or that it does not, may ever count against the revision that it has.
func TestInstall_SeedErrors(t *testing.T) {
	fault, since := errors.New("fault"), at("11:30:00")
	denied := apierrors.NewUnauthorized("expired")
	for sentence, tt := range map[string]struct {
		broken         injectedFailures
		isSeen, isLost bool
	}{
		"the identity of the garden cannot be read":      {injectedFailures{identity: fault}, false, false},
		"the installation cannot be claimed":             {injectedFailures{claim: fault}, false, false},
		"no process can render":                          {injectedFailures{render: rendering.Limits{Wait: 1}}, false, false},
		"the Secret with the kubeconfig is gone":         {injectedFailures{access: &seeds.Unreachable{NoAccess: true}}, false, true},
		"the kubeconfig expires in the middle of a look": {injectedFailures{seed: denied}, false, false},
		"the seed does not answer":                       {injectedFailures{access: &seeds.Unreachable{}}, true, true},
		"the seed does not tell its version":             {injectedFailures{access: fault}, true, false},
		"the seed answers errors":                        {injectedFailures{seed: fault}, true, false},
		"the seed refuses what is brought":               {injectedFailures{write: fault}, true, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			installation := newAssignedInstallation(t)
			installation.Spec.RegistrationRef.Name = "network"
			rec := newReconciliation(installation, operatorOfGarden, clockAt(noon))
			rec.assignment = &assignment{relation: state.Ours, revision: "r2", isOnTrial: true}
			rec.seed = &gardencorev1beta1.Seed{
				ObjectMeta: metav1.ObjectMeta{Name: "seed"}, Status: gardencorev1beta1.SeedStatus{ClusterIdentity: new("seed")},
			}
			rec.status.HealthySince = &since
			r := tt.broken.reconciler(t)
			_, err := r.install(t.Context(), rec)
			require.Error(t, err)
			_, isProblem := problem.In(err)
			require.False(t, isProblem, "%v", err)

			isKnown, health := rec.health(err)
			assert.Equal(t, tt.isSeen, isKnown, "%v", err)
			if isKnown {
				assert.Equal(t, rollout.Hidden, health)
			}
			r.recordObservation(rec, err)
			observation := r.State.Observation(installation.Name)
			assert.Equal(t, tt.isLost, observation.Unreachable, "%v", err)
			assert.Equal(t, tt.isSeen || tt.isLost, !observation.TriedAt.IsZero(), "%v", err)
		})
	}
}

// What keeps the operator from looking for an hour makes no candidate bad, however many other seeds answer meanwhile.
func TestRecordGateObservation_OtherErrorsAreNotCounted(t *testing.T) {
	for sentence, err := range map[string]error{
		"no process can render":  errors.New("rendering the chart: no result in time"),
		"nobody has access":      &seeds.Unreachable{NoAccess: true},
		"the Seed was taken off": problem.New(problem.SeedNotFound, "there is none"),
	} {
		t.Run(sentence, func(t *testing.T) {
			installation, store := newAssignedInstallation(t), state.New()
			r := &reconciler{Options: Options{State: store}}
			since := state.AssignmentKey(installation.Annotations)
			for minute := range 60 {
				began := at("12:00:00").Add(time.Duration(minute) * time.Minute)
				store.Observe("another", "r1 now", began, rollout.Healthy, rollout.Observed{})
				rec := newReconciliation(installation, "", clockAt(began.Format(time.RFC3339)))
				rec.assignment = &assignment{revision: "r2", isOnTrial: true}
				r.recordGateObservation(rec, err)
				r.recordObservation(rec, err)
			}
			assert.Zero(t, store.Observe(installation.Name, since, at("13:00:00").Time, rollout.Healthy, rollout.Observed{}).Hidden)
		})
	}
}
