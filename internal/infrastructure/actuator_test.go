package infrastructure

import (
	"context"
	"errors"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
)

// stubDriver answers with what it was given and remembers what it was asked.
type stubDriver struct {
	problems field.ErrorList
	outcome  *Outcome
	err      error
	seen     *Shoot
	deleted  bool
}

func (d *stubDriver) Validate(*Shoot) field.ErrorList { return d.problems }

func (d *stubDriver) Reconcile(_ context.Context, shoot *Shoot, _ contract.StateRecorder) (*Outcome, error) {
	d.seen = shoot
	return d.outcome, d.err
}

func (d *stubDriver) Delete(_ context.Context, shoot *Shoot, _ contract.StateRecorder) error {
	d.seen, d.deleted = shoot, true
	return d.err
}

// fakeRecorder remembers the state that it was told.
type fakeRecorder struct{ state any }

func (n *fakeRecorder) RecordIntent(context.Context, any) error { return nil }
func (n *fakeRecorder) RecordState(state any)                   { n.state = state }
func (n *fakeRecorder) Run(context.Context, *contract.Graph) error {
	return nil
}

func newReconciliation(t *testing.T, objects ...client.Object) (*reconciliation, *fakeRecorder) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	recorder := &fakeRecorder{}
	return &reconciliation{
		Object: &extensionsv1alpha1.Infrastructure{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one"},
			Spec: extensionsv1alpha1.InfrastructureSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "test"},
				SecretRef:   corev1.SecretReference{Namespace: "shoot--dev--one", Name: "cloudprovider"},
			},
		},
		Cluster: &contract.Cluster{
			Shoot:        &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{TechnicalID: "shoot--dev--other", UID: "1234"}},
			CloudProfile: &gardencorev1beta1.CloudProfile{},
		},
		Client:        fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		StateRecorder: recorder,
	}, recorder
}

func credentials() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "cloudprovider"},
		Data:       map[string][]byte{"username": []byte("gardener")},
	}
}

func newActuator(driver Driver) *actuator {
	return &actuator{drivers: map[string]Driver{"test": driver}}
}

func TestActuator_ReconcileStatus(t *testing.T) {
	rec, recorder := newReconciliation(t, credentials())
	driver := &stubDriver{outcome: &Outcome{
		ProviderStatus: &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "x/v1", Kind: "InfrastructureStatus"}},
		State:          &metav1.Status{Message: "state"},
		NodesCIDR:      new("10.250.0.0/16"),
		EgressCIDRs:    []string{"203.0.113.7/32"},
		Nodes:          []string{"10.250.0.0/16"},
		Findings:       []string{"subnet S has another range than asked for"},
	}}
	require.NoError(t, newActuator(driver).Reconcile(t.Context(), rec))

	status := rec.Object.Status
	assert.Contains(t, string(status.ProviderStatus.Raw), `"kind":"InfrastructureStatus"`)
	assert.Equal(t, "10.250.0.0/16", *status.NodesCIDR)
	assert.Equal(t, []string{"203.0.113.7/32"}, status.EgressCIDRs)
	assert.Equal(t, []string{"10.250.0.0/16"}, status.Networking.Nodes)
	assert.Nil(t, status.State, "the state goes through the track alone")
	assert.Equal(t, driver.outcome.State, recorder.state)
	assert.Equal(t, driver.outcome.Findings, rec.Messages)

	assert.Equal(t, "shoot--dev--other", driver.seen.TechnicalID, "the technical ID is the shoot's, not the namespace")
	assert.Equal(t, "1234", driver.seen.UID)
	assert.Equal(t, "gardener", string(driver.seen.Credentials["username"]))
}

func TestActuator_ReconcileUnchanged(t *testing.T) {
	rec, recorder := newReconciliation(t, credentials())
	rec.Object.Status.EgressCIDRs = []string{"203.0.113.7/32"}
	before := rec.Object.DeepCopy()
	require.NoError(t, newActuator(&stubDriver{outcome: &Outcome{Unchanged: true}}).Reconcile(t.Context(), rec))
	assert.Equal(t, before, rec.Object)
	assert.Nil(t, recorder.state)
	assert.Empty(t, rec.Messages)
}

func TestActuator_ReconcileErrors(t *testing.T) {
	invalid := field.ErrorList{field.Invalid(field.NewPath("networks", "workers"), "x", "must be a CIDR such as 10.250.0.0/16")}
	for sentence, tc := range map[string]struct {
		driver  *stubDriver
		change  func(*reconciliation)
		secrets []client.Object
		kind    cloud.Kind
		message string
	}{
		"an invalid configuration names the field and the remedy": {
			driver: &stubDriver{problems: invalid}, secrets: []client.Object{credentials()},
			kind: cloud.Configuration, message: "networks.workers: Invalid value: \"x\": must be a CIDR such as 10.250.0.0/16",
		},
		"a missing Secret is named": {
			driver: &stubDriver{}, kind: cloud.Configuration,
			message: "spec.secretRef: the Secret shoot--dev--one/cloudprovider with the cloud credentials does not exist",
		},
		"a Cluster without a shoot is not a user's error": {
			driver: &stubDriver{}, change: func(rec *reconciliation) { rec.Cluster.Shoot = nil }, secrets: []client.Object{credentials()},
			kind: cloud.Unknown, message: "lacks its shoot or its cloud profile",
		},
		"a shoot without a UID cannot mark what is its own": {
			driver: &stubDriver{}, change: func(rec *reconciliation) { rec.Cluster.Shoot.Status.UID = "" }, secrets: []client.Object{credentials()},
			kind: cloud.Unknown, message: "has no UID",
		},
		"a driver's error keeps its kind": {
			driver: &stubDriver{err: cloud.Errorf(cloud.QuotaExceeded, "no more routers")}, secrets: []client.Object{credentials()},
			kind: cloud.QuotaExceeded, message: "no more routers",
		},
		"an API server that fails is not a user's error": {
			driver: &stubDriver{}, kind: cloud.Unknown, message: "reading the credentials Secret",
			change: func(rec *reconciliation) {
				broken := func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errors.New("timeout")
				}
				rec.Client = interceptor.NewClient(rec.Client.(client.WithWatch), interceptor.Funcs{Get: broken})
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			rec, _ := newReconciliation(t, tc.secrets...)
			if tc.change != nil {
				tc.change(rec)
			}
			err := newActuator(tc.driver).Reconcile(t.Context(), rec)
			require.ErrorContains(t, err, tc.message)
			assert.Equal(t, tc.kind, cloud.KindOf(err))
		})
	}
}

func TestActuator_Delete(t *testing.T) {
	t.Run("an invalid configuration does not keep anything from being deleted", func(t *testing.T) {
		rec, _ := newReconciliation(t, credentials())
		driver := &stubDriver{problems: field.ErrorList{field.Required(field.NewPath("networks"), "")}}
		require.NoError(t, newActuator(driver).Delete(t.Context(), rec))
		assert.True(t, driver.deleted)
	})
	t.Run("lost credentials keep it from being forgotten", func(t *testing.T) {
		rec, _ := newReconciliation(t)
		driver := &stubDriver{}
		require.ErrorContains(t, newActuator(driver).Delete(t.Context(), rec), "does not exist")
		assert.False(t, driver.deleted)
	})
	t.Run("force deletion and migration need neither credentials nor a cloud", func(t *testing.T) {
		rec, _ := newReconciliation(t)
		driver := &stubDriver{err: errors.New("must not be called")}
		require.NoError(t, newActuator(driver).ForceDelete(t.Context(), rec))
		require.NoError(t, newActuator(driver).Migrate(t.Context(), rec))
	})
}

func TestAdd_TypeWithoutDriver(t *testing.T) {
	err := Add(nil, map[string]Driver{"openstack": &stubDriver{}}, contract.Options{Types: []string{"aws"}})
	require.EqualError(t, err, `no infrastructure driver for type "aws"; there are: openstack`)
}
