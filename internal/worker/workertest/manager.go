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
	labelForceDeletion  = "force-deletion"
	nameManager         = v1beta1constants.DeploymentNameMachineControllerManager
	// maxRounds is more than any change needs.
	maxRounds = 60
)

// CreateFailure is the error of a machine's creation.
type CreateFailure struct {
	// Code is machine-controller-manager's name of an error code, e.g. "ResourceExhausted".
	Code string
	// Message is the machine driver's message.
	Message string
}

// Manager simulates machine-controller-manager with its machine controller in one namespace, while their Deployment has
// replicas. It does at once what they do over time.
type Manager struct {
	client    client.Client
	namespace string
	servers   *Servers

	mutex sync.Mutex
	// createFailures are the errors of creations, by the name of the MachineDeployment.
	createFailures map[string]CreateFailure
	// stalled creates no machine sets, as a stuck manager; paused does nothing, independent of the Deployment.
	stalled, paused bool
	err             error
}

// NewManager returns the Manager of a namespace.
func NewManager(server *contracttest.APIServer, namespace string, servers *Servers) *Manager {
	return &Manager{client: server.Client, namespace: namespace, servers: servers, createFailures: map[string]CreateFailure{}}
}

// SetCreateFailure makes the creations of a MachineDeployment's machines fail, until it is called with nil.
func (m *Manager) SetCreateFailure(deployment string, failure *CreateFailure) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.createFailures, deployment)
	if failure != nil {
		m.createFailures[deployment] = *failure
	}
}

// setStalled makes the simulation ignore changes.
func (m *Manager) setStalled(stalled bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stalled = stalled
}

// pause stops the simulation, independent of the Deployment, until resume.
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

// waitIdle waits until pending work is done: gardenlet also waits for the end of the pods.
func (m *Manager) waitIdle() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
}

// OnWrite acts upon a write of the process under test if it changes an input of machine-controller-manager. New classes and labels of
// machines are processed with the writes that follow them.
func (m *Manager) OnWrite(call contracttest.Call) {
	isNewClass := call.Method == http.MethodPost && strings.Contains(call.Path, "/machineclasses")
	isLabel := call.Method == http.MethodPatch && strings.Contains(call.Path, "/machines/")
	if strings.Contains(call.Path, "machine") && !isNewClass && !isLabel {
		m.Settle(context.Background())
	}
}

// Settle acts until nothing is left to do.
func (m *Manager) Settle(ctx context.Context) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for range maxRounds {
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
	m.err = fmt.Errorf("the simulated machine-controller-manager does not settle")
}

// Err returns the simulation's own errors.
func (m *Manager) Err() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.err
}

// round reads everything once and acts.
func (m *Manager) round(ctx context.Context) (changed bool, err error) {
	deployment := &appsv1.Deployment{}
	err = m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: nameManager}, deployment)
	if apierrors.IsNotFound(err) || err == nil && deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t := &settleRound{Manager: m, ctx: ctx}
	if err := t.list(); err != nil {
		return false, err
	}
	t.reconcile()
	return t.changed, t.err
}

// settleRound is one round: the objects that were read, updated by the round's writes.
type settleRound struct {
	*Manager
	ctx         context.Context //nolint:containedctx // it exists as long as the round
	classes     []*machinev1alpha1.MachineClass
	secrets     []*corev1.Secret
	deployments []*machinev1alpha1.MachineDeployment
	sets        []*machinev1alpha1.MachineSet
	machines    []*machinev1alpha1.Machine

	changed bool
	err     error
}

func (t *settleRound) list() error {
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

// reconcile goes from deployments to machines, and then updates statuses upwards.
func (t *settleRound) reconcile() {
	for _, d := range t.deployments {
		t.reconcileDeployment(d)
	}
	for _, set := range t.sets {
		t.reconcileSet(set)
	}
	t.updateFinalizers()
	for _, machine := range t.machines {
		t.reconcileMachine(machine)
	}
	for _, set := range t.sets {
		t.updateSetStatus(set)
	}
	for _, d := range t.deployments {
		t.updateDeploymentStatus(d)
	}
	t.collectOrphans()
}

// recordWrite records a write. A write of another client has the same effect: there is another round.
func (t *settleRound) recordWrite(err error) bool {
	t.changed = true
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	if err != nil && t.err == nil {
		t.err = err
	}
	return err == nil
}

func (t *settleRound) update(object client.Object) { t.recordWrite(t.client.Update(t.ctx, object)) }

func (t *settleRound) updateStatus(object client.Object) {
	t.recordWrite(t.client.Status().Update(t.ctx, object))
}

func (t *settleRound) remove(object client.Object) {
	if object.GetDeletionTimestamp() == nil {
		t.recordWrite(t.client.Delete(t.ctx, object))
	}
}

// setFinalizer adds or removes a finalizer.
func (t *settleRound) setFinalizer(object client.Object, finalizer string, wanted bool) {
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

// updateFinalizers keeps finalizers on classes with machines, and on Secrets of classes.
func (t *settleRound) updateFinalizers() {
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
		t.setFinalizer(class, finalizerManager, used)
	}
	for _, secret := range t.secrets {
		t.setFinalizer(secret, finalizerController, referred[secret.Name])
	}
}

// collectOrphans removes servers without a Machine, if there is a class for their cloud.
func (t *settleRound) collectOrphans() {
	if len(t.classes) == 0 {
		return
	}
	t.servers.collectOrphans(func(name string) bool {
		return slices.ContainsFunc(t.machines, func(machine *machinev1alpha1.Machine) bool { return machine.Name == name })
	})
}

func (t *settleRound) findClass(name string) *machinev1alpha1.MachineClass {
	for _, class := range t.classes {
		if class.Name == name {
			return class
		}
	}
	return nil
}

func (t *settleRound) findSecret(ref *corev1.SecretReference) *corev1.Secret {
	for _, secret := range t.secrets {
		if ref != nil && secret.Name == ref.Name {
			return secret
		}
	}
	return nil
}
