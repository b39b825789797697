package networktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
)

const (
	// operationTimeout is how long a scenario waits for one operation.
	operationTimeout = time.Minute
	// checkInterval is the pause between two looks at a gate.
	checkInterval = 50 * time.Millisecond
	finalizer     = "extensions.gardener.cloud/network"
)

// Harness is a shoot's namespace in a seed, with a simulated gardenlet that requests operations, a process with the controller, a resource manager that
// handles each write before the process continues, and a shoot whose nodes roll out when the test lets them. Errors fail the test.
type Harness struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.Network]
	// Client is an administrator's.
	Client    client.Client
	Namespace string
	Manager   *contracttest.ResourceManager

	t         T
	server    *contracttest.APIServer
	subject   Subject
	driver    *checkedDriver
	fixture   shootFixture
	inspector *inspector
	shoot     *shoot
	journal   *contracttest.Journal
	instance  *contracttest.Instance
	requested *gardencorev1beta1.Shoot

	mutex  sync.Mutex
	writes []string
	forms  *nodeForms
}

// newHarness makes a namespace for a shoot that has nodes. No process runs in it yet.
func newHarness(t T, server *contracttest.APIServer, subject Subject) *Harness {
	t.Helper()
	return newHarnessWithNodes(t, server, subject, true)
}

func newHarnessWithNodes(t T, server *contracttest.APIServer, subject Subject, nodes bool) *Harness {
	t.Helper()
	shoot, err := newShoot(t.Context(), server, nodes, false)
	require.NoError(t, err)
	t.Cleanup(shoot.server.Close)
	record := contracttest.NewObjectTracker()
	record.OnChange = shoot.mirror
	return newHarnessForShoot(t, server, subject, shoot, record, &nodeForms{checkConnectivity: subject.CheckConnectivity})
}

func newHarnessForShoot(
	t T, server *contracttest.APIServer, subject Subject, shoot *shoot, record *contracttest.ObjectTracker, forms *nodeForms,
) *Harness {
	t.Helper()
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	s := &Harness{
		Gardenlet: contracttest.NewGardenlet(server, client.ObjectKey{Namespace: namespace, Name: name}, newNetwork),
		Client:    server.Client, Namespace: namespace, Manager: contracttest.NewResourceManager(server, namespace, record),
		t: t, server: server, subject: subject, driver: &checkedDriver{driver: subject.Driver}, shoot: shoot, forms: forms,
		fixture: shootFixture{networkType: subject.Type, namespace: namespace, shootAddress: shoot.server.URL}, journal: &contracttest.Journal{},
	}
	s.inspector = &inspector{
		client: server.Client, networkType: subject.Type, namespace: namespace, manager: s.Manager, shoot: shoot,
		given: []string{v1beta1constants.SecretNameGardenerInternal},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Errorf("what happened in %s lately:\n%s", namespace, s.journal)
		}
	})
	return s
}

func newNetwork() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} }

// program adds the controllers of the subject's type to a manager.
func program(subject Subject, driver network.Driver, mgr manager.Manager) error {
	if err := network.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	options := contract.Options{
		Types: []string{subject.Type}, Retry: contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond},
		Registerer: prometheus.NewRegistry(), HealthInterval: 2 * checkInterval,
	}
	drivers := map[string]network.Driver{subject.Type: driver}
	return network.AddWithIntervals(mgr, drivers, subject.Images, options, network.Intervals{GateInterval: checkInterval})
}

// Start starts the process. It ends with the test, or by Stop.
func (s *Harness) Start() *Harness {
	s.t.Helper()
	host := contracttest.Host{
		Server: s.server, Namespace: s.Namespace, Faults: &contracttest.Faults{}, Journal: s.journal, OnWrite: s.onWrite,
		CacheTransform: network.CacheTransform,
	}
	instance, err := host.Start(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return program(s.subject, s.driver, mgr)
	})
	require.NoError(s.t, err)
	s.instance = instance
	s.t.Cleanup(s.Stop)
	return s
}

// onWrite has the resource manager act upon a write.
func (s *Harness) onWrite(call contracttest.Call) {
	s.mutex.Lock()
	s.writes = append(s.writes, strings.TrimPrefix(call.String(), "kube "))
	s.mutex.Unlock()
	if !strings.HasSuffix(call.Path, resourceShoot(s.subject.Type)) {
		s.Manager.OnWrite(call)
		return
	}
	s.recordForm()
	s.Manager.OnWrite(call)
	s.forms.applied()
}

// recordForm records the form that nodes are about to get.
func (s *Harness) recordForm() {
	object, err := s.Get(context.Background())
	if err != nil || !object.DeletionTimestamp.IsZero() {
		return
	}
	if state, err := readState(object); err == nil {
		s.forms.add(state.Form)
	}
}

// Writes returns the successful writes of the process since the last call, in order, with checksums replaced.
func (s *Harness) Writes() []string {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.instance == nil || s.instance.IsIdle() }, operationTimeout, time.Millisecond)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// Stop shuts the process down gracefully.
func (s *Harness) Stop() {
	if s.instance == nil {
		return
	}
	assert.NoError(s.t, s.instance.Stop())
	s.instance = nil
}

// Restart stops the process and starts the next.
func (s *Harness) Restart() {
	s.t.Helper()
	s.Stop()
	s.Start()
}

// configure creates the shoot as gardenlet would, and returns the Network to request.
func (s *Harness) configure(configuration Configuration, changes ...func(*gardencorev1beta1.Shoot)) *extensionsv1alpha1.Network {
	s.t.Helper()
	shoot, err := s.fixture.shoot(configuration, changes...)
	require.NoError(s.t, err)
	first := s.requested == nil
	s.requested = shoot
	if first {
		objects, err := s.fixture.objects(shoot)
		require.NoError(s.t, err)
		for _, object := range objects {
			require.NoError(s.t, s.Client.Create(s.t.Context(), object))
		}
		return s.fixture.network(shoot)
	}
	wanted, err := s.fixture.cluster(shoot)
	require.NoError(s.t, err)
	current := &extensionsv1alpha1.Cluster{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Name: s.Namespace}, current))
	current.Spec = wanted.Spec
	require.NoError(s.t, s.Client.Update(s.t.Context(), current))
	return s.fixture.network(shoot)
}

// Create requests the Network, waits until it is ready, and lets the nodes of the shoot roll out.
func (s *Harness) Create(configuration Configuration, changes ...func(*gardencorev1beta1.Shoot)) *extensionsv1alpha1.Network {
	s.t.Helper()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.configure(configuration, changes...), v1beta1constants.GardenerOperationReconcile))
	object := s.Ready()
	s.rollOutAll()
	return object
}

// rollOutAll lets all nodes roll out what is deployed.
func (s *Harness) rollOutAll() {
	s.t.Helper()
	require.NoError(s.t, s.shoot.rollOutAll(s.t.Context()))
	s.forms.rolledOut()
}

// RequestReconcile has the shoot reconciled, as a configuration makes it. The process must rest.
func (s *Harness) RequestReconcile(configuration Configuration, changes ...func(*gardencorev1beta1.Shoot)) {
	s.t.Helper()
	wanted := s.configure(configuration, changes...)
	object, err := s.Get(s.t.Context())
	require.NoError(s.t, err)
	patch := client.MergeFrom(object.DeepCopy())
	object.Spec = wanted.Spec
	require.NoError(s.t, s.Client.Patch(s.t.Context(), object, patch))
	s.BackdateAndRequest(v1beta1constants.GardenerOperationReconcile)
}

// BackdateAndRequest requests an operation whose timestamp differs from that of the last one.
func (s *Harness) BackdateAndRequest(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.Backdate(s.t.Context(), time.Minute))
	require.NoError(s.t, s.Request(s.t.Context(), operation))
}

// Ready waits until the Network is ready and the content is valid, whatever the configuration.
func (s *Harness) Ready() *extensionsv1alpha1.Network {
	s.t.Helper()
	object := s.Wait(reconciled)
	s.requireNoViolations()
	require.Nil(s.t, object.Status.LastError)
	s.inspect()
	return object
}

func (s *Harness) inspect() {
	s.t.Helper()
	s.requireNoViolations()
	require.Empty(s.t, s.inspector.checkReady(s.t.Context()))
}

// requireNoViolations fails the test if the driver has violations.
func (s *Harness) requireNoViolations() {
	s.t.Helper()
	require.Empty(s.t, slices.Concat(s.driver.Violations(), s.forms.violations()))
}

// Wait waits until check returns no problem.
func (s *Harness) Wait(check func(*extensionsv1alpha1.Network) error) *extensionsv1alpha1.Network {
	s.t.Helper()
	object, err := s.WaitFor(s.timeoutContext(), check)
	require.NoError(s.t, err)
	return object
}

func (s *Harness) timeoutContext() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), operationTimeout)
	s.t.Cleanup(cancel)
	return ctx
}

// Delete has the Network deleted and waits until it is gone and nothing of it left.
func (s *Harness) Delete() {
	s.t.Helper()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	require.NoError(s.t, s.WaitGone(s.timeoutContext()))
	require.Empty(s.t, s.inspector.checkGone(s.t.Context()))
}

// content reads what is deployed.
func (s *Harness) content() (*content, networkState) {
	s.t.Helper()
	c, state, err := s.inspector.read(s.t.Context())
	require.NoError(s.t, err)
	return c, state
}

// OtherSeed returns a harness for the same shoot in another seed.
func (s *Harness) OtherSeed() *Harness {
	s.t.Helper()
	return newHarnessForShoot(s.t, s.server, s.subject, s.shoot, s.Manager.Shoot(), s.forms)
}

// nodeForms keeps the forms of the plugin that nodes of one shoot may run at the moment, and those that may be in force for what is
// not on nodes.
type nodeForms struct {
	checkConnectivity func(nodes, deployed []json.RawMessage) error

	mutex           sync.Mutex
	forms, deployed []json.RawMessage
	errs            []string
}

// add tells that nodes are going over to a form.
func (o *nodeForms) add(form json.RawMessage) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.forms, o.deployed = moveToEnd(o.forms, form), moveToEnd(o.deployed, form)
	if o.checkConnectivity == nil {
		return
	}
	if err := o.checkConnectivity(o.forms, o.deployed); err != nil {
		o.errs = append(o.errs, fmt.Sprintf("while nodes run any of %s: %s", o.forms, err))
	}
}

func moveToEnd(forms []json.RawMessage, form json.RawMessage) []json.RawMessage {
	return append(slices.DeleteFunc(forms, func(known json.RawMessage) bool { return string(known) == string(form) }), form)
}

// applied tells that what is not on nodes is as it was deployed last.
func (o *nodeForms) applied() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.deployed = o.deployed[max(0, len(o.deployed)-1):]
}

// rolledOut tells that all nodes run what was deployed last.
func (o *nodeForms) rolledOut() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.forms = o.forms[max(0, len(o.forms)-1):]
}

// removeNodes tells that there are no nodes.
func (o *nodeForms) removeNodes() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.forms, o.deployed = nil, nil
}

func (o *nodeForms) violations() []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return slices.Clone(o.errs)
}
