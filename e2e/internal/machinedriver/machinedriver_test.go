package machinedriver

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const namespace = "shoot--dev--one"

// cloud is a driver whose servers are names. It fails with failure, if that is set.
type cloud struct {
	driver.Driver // other calls panic
	failure       error

	lock          sync.Mutex
	servers       map[string]bool
	running, most int
	initialized   int
}

func newCloud() *cloud { return &cloud{servers: map[string]bool{}} }

func (c *cloud) GetMachineStatus(_ context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.failure != nil {
		return nil, c.failure
	}
	if !c.servers[request.Machine.Name] {
		return nil, status.Error(codes.NotFound, "there is no server")
	}
	return &driver.GetMachineStatusResponse{}, nil
}

func (c *cloud) CreateMachine(_ context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	c.lock.Lock()
	c.running++
	c.most = max(c.most, c.running)
	c.lock.Unlock()
	time.Sleep(10 * time.Millisecond) // so that others can begin
	c.lock.Lock()
	defer c.lock.Unlock()
	c.running--
	c.servers[request.Machine.Name] = true
	return &driver.CreateMachineResponse{ProviderID: "id of " + request.Machine.Name}, nil
}

func (c *cloud) InitializeMachine(context.Context, *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.initialized++
	return nil, status.Error(codes.Unimplemented, "there is nothing to initialize")
}

func (c *cloud) DeleteMachine(_ context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.failure != nil {
		return nil, c.failure
	}
	if request.Machine.DeletionTimestamp.IsZero() || request.Machine.Spec.ProviderID != "id of "+request.Machine.Name {
		return nil, errors.New("it is not a Machine that is deleted")
	}
	delete(c.servers, request.Machine.Name)
	return &driver.DeleteMachineResponse{}, nil
}

func newClass(name string) *machinev1alpha1.MachineClass {
	return &machinev1alpha1.MachineClass{
		ObjectMeta:           metav1.ObjectMeta{Namespace: namespace, Name: name},
		SecretRef:            &corev1.SecretReference{Namespace: namespace, Name: "user-data"},
		CredentialsSecretRef: &corev1.SecretReference{Namespace: namespace, Name: "credentials"},
	}
}

func newSeed(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, machinev1alpha1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func newSecret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

func TestReadClass(t *testing.T) {
	userData := newSecret("user-data", map[string][]byte{"userData": []byte("script"), "password": []byte("old")})
	credentials := newSecret("credentials", map[string][]byte{"password": []byte("new")})
	class, err := ReadClass(t.Context(), newSeed(t, newClass("one"), userData, credentials), namespace)
	require.NoError(t, err)
	assert.Equal(t, "one", class.object.Name)
	assert.Equal(t, map[string][]byte{"userData": []byte("script"), "password": []byte("new")}, class.secret.Data)

	_, err = ReadClass(t.Context(), newSeed(t), namespace)
	require.EqualError(t, err, "namespace shoot--dev--one has 0 machine classes, not one")
	_, err = ReadClass(t.Context(), newSeed(t, newClass("one"), newClass("two")), namespace)
	require.EqualError(t, err, "namespace shoot--dev--one has 2 machine classes, not one")
	_, err = ReadClass(t.Context(), newSeed(t, newClass("one"), userData), namespace)
	assert.ErrorContains(t, err, `reading a secret of machine class one: secrets "credentials" not found`)
}

func TestMachines(t *testing.T) {
	c := newCloud()
	machines := New(c, Class{object: newClass("one"), secret: &corev1.Secret{}}, 20, 5)
	require.NoError(t, machines.Create(t.Context()))
	assert.Len(t, c.servers, 20)
	assert.LessOrEqual(t, c.most, 5, "at a time")
	assert.Greater(t, c.most, 1)
	assert.Equal(t, 20, c.initialized)
	assert.ErrorContains(t, machines.Create(t.Context()), ": it exists")
	require.NoError(t, machines.Delete(t.Context()))
	assert.Empty(t, c.servers)
	require.NoError(t, machines.Create(t.Context()), "again")
	require.NoError(t, machines.Delete(t.Context()))

	c.failure = status.Error(codes.Unavailable, "the cloud is away")
	assert.ErrorContains(t, machines.Create(t.Context()), "the cloud is away", "only a missing server is created")
	assert.Empty(t, c.servers)
	assert.ErrorContains(t, machines.Delete(t.Context()), "the cloud is away")
}
