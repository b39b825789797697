package workertest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const (
	finalizerManager    = "machine.sapcloud.io/machine-controller-manager"
	finalizerController = "machine.sapcloud.io/machine-controller"
	labelName           = "name"
	labelTemplate       = "machine-template-hash"
	labelForced         = "force-deletion"
	nameManager         = v1beta1constants.DeploymentNameMachineControllerManager
	// mostRounds is more than any change needs.
	mostRounds = 60
)

// Trouble is why a machine cannot be made.
type Trouble struct {
	// Code is machine-controller-manager's name of an error code, e.g. "ResourceExhausted".
	Code string
	// What are the words of the machine driver.
	What string
}

// Manager stands in for machine-controller-manager and the machine controller beside it, in one namespace, while their Deployment has
// replicas. It does everything at once that they do over time.
type Manager struct {
	client    client.Client
	namespace string
	servers   *Servers

	mutex sync.Mutex
	// troubles holds, by the name of a MachineDeployment, why its machines cannot be made.
	troubles map[string]Trouble
	// blind is one that makes no sets, as if it were stuck; paused one that does nothing, whatever its Deployment says.
	blind, paused bool
	err           error
}

// NewManager returns the one of a namespace.
func NewManager(server *contracttest.APIServer, namespace string, servers *Servers) *Manager {
	return &Manager{client: server.Client, namespace: namespace, servers: servers, troubles: map[string]Trouble{}}
}

// Hinder keeps the machines of a MachineDeployment from being made, until it is called with nil.
func (m *Manager) Hinder(deployment string, trouble *Trouble) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.troubles, deployment)
	if trouble != nil {
		m.troubles[deployment] = *trouble
	}
}

// blindfold keeps the stand-in from seeing changes.
func (m *Manager) blindfold(blind bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.blind = blind
}

// pause makes the stand-in rest, whatever its Deployment says, until resume.
func (m *Manager) pause() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.paused = true
}

func (m *Manager) resume() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.paused = false
}

// rest returns when what was under way is done: gardenlet waits for the end of the pods, too.
func (m *Manager) rest() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
}

// Bystander acts upon a write of the process under test, if it is one that changes anything for machine-controller-manager: classes
// that are new, and labels of machines, do so together with what comes after them.
func (m *Manager) Bystander(call contracttest.Call) {
	isNewClass := call.Method == http.MethodPost && strings.Contains(call.Path, "/machineclasses")
	isLabel := call.Method == http.MethodPatch && strings.Contains(call.Path, "/machines/")
	if strings.Contains(call.Path, "machine") && !isNewClass && !isLabel {
		m.Settle(context.Background())
	}
}

// Settle acts until there is nothing left to do.
func (m *Manager) Settle(ctx context.Context) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for range mostRounds {
		if m.paused {
			return
		}
		changed, err := m.round(ctx)
		if err != nil {
			m.err = err
			return
		}
		if !changed {
			m.err = nil
			return
		}
	}
	m.err = fmt.Errorf("the stand-in of machine-controller-manager does not come to rest")
}

// Complaint is what the stand-in itself could not do; nil if all is well.
func (m *Manager) Complaint() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.err
}

// round looks once at everything and does what is to be done.
func (m *Manager) round(ctx context.Context) (changed bool, err error) {
	deployment := &appsv1.Deployment{}
	err = m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: nameManager}, deployment)
	if apierrors.IsNotFound(err) || err == nil && deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t := &turn{Manager: m, ctx: ctx}
	if err := t.look(); err != nil {
		return false, err
	}
	t.act()
	return t.changed, t.err
}

// turn is one round: what was found, and kept up to date by what is done.
type turn struct {
	*Manager
	ctx         context.Context //nolint:containedctx // it lives as long as the round
	classes     []*machinev1alpha1.MachineClass
	secrets     []*corev1.Secret
	deployments []*machinev1alpha1.MachineDeployment
	sets        []*machinev1alpha1.MachineSet
	machines    []*machinev1alpha1.Machine

	changed bool
	err     error
}

func (t *turn) look() error {
	var classes machinev1alpha1.MachineClassList
	var secrets corev1.SecretList
	var deployments machinev1alpha1.MachineDeploymentList
	var sets machinev1alpha1.MachineSetList
	var machines machinev1alpha1.MachineList
	for _, list := range []client.ObjectList{&classes, &secrets, &deployments, &sets, &machines} {
		if err := t.client.List(t.ctx, list, client.InNamespace(t.namespace)); err != nil {
			return err
		}
	}
	t.classes, t.secrets, t.deployments = pointers(classes.Items), pointers(secrets.Items), pointers(deployments.Items)
	t.sets, t.machines = pointers(sets.Items), pointers(machines.Items)
	return nil
}

func pointers[O any](objects []O) []*O {
	all := make([]*O, len(objects))
	for i := range objects {
		all[i] = &objects[i]
	}
	return all
}

// act goes from the whole to the parts, and back with what has become of them.
func (t *turn) act() {
	for _, d := range t.deployments {
		t.deployment(d)
	}
	for _, set := range t.sets {
		t.set(set)
	}
	t.claim()
	for _, machine := range t.machines {
		t.machine(machine)
	}
	for _, set := range t.sets {
		t.setStatus(set)
	}
	for _, d := range t.deployments {
		t.deploymentStatus(d)
	}
	t.collect()
}

// did takes note of a write. Somebody else's write in between is as good as one's own: there is another round.
func (t *turn) did(err error) bool {
	t.changed = true
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	if err != nil && t.err == nil {
		t.err = err
	}
	return err == nil
}

func (t *turn) update(object client.Object) { t.did(t.client.Update(t.ctx, object)) }

func (t *turn) updateStatus(object client.Object) { t.did(t.client.Status().Update(t.ctx, object)) }

func (t *turn) remove(object client.Object) {
	if object.GetDeletionTimestamp() == nil {
		t.did(t.client.Delete(t.ctx, object))
	}
}

// finalize adds or removes a finalizer.
func (t *turn) finalize(object client.Object, finalizer string, wanted bool) {
	if controllerutil.ContainsFinalizer(object, finalizer) == wanted || wanted && object.GetDeletionTimestamp() != nil {
		return
	}
	if wanted {
		controllerutil.AddFinalizer(object, finalizer)
	} else {
		controllerutil.RemoveFinalizer(object, finalizer)
	}
	t.update(object)
}

// claim holds on to classes that machines are of, and to secrets that classes refer to.
func (t *turn) claim() {
	referred := map[string]bool{}
	for _, class := range t.classes {
		for _, ref := range []*corev1.SecretReference{class.SecretRef, class.CredentialsSecretRef} {
			if ref != nil && ref.Namespace == t.namespace {
				referred[ref.Name] = true
			}
		}
		used := false
		for _, machine := range t.machines {
			used = used || machine.Spec.Class.Name == class.Name
		}
		t.finalize(class, finalizerManager, used)
	}
	for _, secret := range t.secrets {
		t.finalize(secret, finalizerController, referred[secret.Name])
	}
}

// collect removes servers that no Machine tells of, wherever a class says where to look for them.
func (t *turn) collect() {
	if len(t.classes) == 0 {
		return
	}
	t.servers.collect(func(name string) bool {
		return slices.ContainsFunc(t.machines, func(machine *machinev1alpha1.Machine) bool { return machine.Name == name })
	})
}

func (t *turn) class(name string) *machinev1alpha1.MachineClass {
	for _, class := range t.classes {
		if class.Name == name {
			return class
		}
	}
	return nil
}

func (t *turn) secret(ref *corev1.SecretReference) *corev1.Secret {
	for _, secret := range t.secrets {
		if ref != nil && secret.Name == ref.Name {
			return secret
		}
	}
	return nil
}
