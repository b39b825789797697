package worker

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

func TestUpstreamChecker_UsesUpstream(t *testing.T) {
	p := newPlan()
	without := p.machines()
	p.securityGroups = append(p.securityGroups, "group-b")
	with := p.machines()
	with.UpstreamMachines = &UpstreamMachines{Machines: *without}
	shoot, _ := p.inputs()
	names := func(machines *Machines) []string {
		names, err := classNames(shoot.TechnicalID, &p.pool, &p.shoot, machines)
		require.NoError(t, err)
		return names
	}
	class := func(name string, labels map[string]string) machinev1alpha1.MachineClass {
		return machinev1alpha1.MachineClass{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	saved := func(classes ...string) *machineState {
		state := &deploymentState{}
		for _, name := range classes {
			set := machinev1alpha1.MachineSet{}
			set.Spec.Template.Spec.Class.Name = name
			state.MachineSets = append(state.MachineSets, set)
		}
		return &machineState{MachineDeployments: map[string]*deploymentState{"one": state, "none": nil}}
	}
	ours := map[string]string{ownerLabel: "one"}
	for sentence, test := range map[string]struct {
		machines *Machines
		classes  []machinev1alpha1.MachineClass
		saved    *machineState
		holds    bool
	}{
		"no other classes":                              {machines: with},
		"no upstream description":                       {machines: without, classes: []machinev1alpha1.MachineClass{class(names(without)[0], nil)}},
		"a class of the other extension":                {machines: with, classes: []machinev1alpha1.MachineClass{class(names(without)[1], nil)}, holds: true},
		"an own class with that name":                   {machines: with, classes: []machinev1alpha1.MachineClass{class(names(without)[0], ours)}},
		"a class of another pool":                       {machines: with, classes: []machinev1alpha1.MachineClass{class("shoot--dev--one-gpu-z1-12345", nil)}},
		"saved machines of the other extension's class": {machines: with, saved: saved(names(without)[0]), holds: true},
		"saved machines of both classes":                {machines: with, saved: saved(names(without)[0], names(with)[0])},
		"saved machines of the own class":               {machines: with, saved: saved(names(with)[0])},
		"no saved machines":                             {machines: with, saved: &machineState{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			holds, err := upstreamChecker{classes: test.classes, saved: test.saved, shoot: shoot}.usesUpstream(&p.pool, test.machines)
			require.NoError(t, err)
			assert.Equal(t, test.holds, holds)
		})
	}
}

func TestSavedMachines(t *testing.T) {
	packed := func(text string, cut int) []byte {
		var buffer bytes.Buffer
		writer := gzip.NewWriter(&buffer)
		_, err := writer.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		raw, err := json.Marshal(map[string][]byte{"state": buffer.Bytes()[:buffer.Len()-cut]})
		require.NoError(t, err)
		return raw
	}
	const full = `{"machineDeployments":{"one":{"replicas":2,"machineSets":[{"metadata":{"name":"one-1"},"spec":{"template":{"spec":{"class":{"name":"b"}}}}}],` +
		`"machines":[{"metadata":{"name":"one-1-x","labels":{"node":"n"}},"spec":{"providerID":"p","class":{"name":"a"}}}]}}}`
	for sentence, test := range map[string]struct {
		raw     []byte
		empty   bool
		problem string
	}{
		"no state":                 {empty: true},
		"null":                     {raw: []byte(`null`), empty: true},
		"empty packed state":       {raw: []byte(`{"state":""}`), empty: true},
		"packed empty text":        {raw: packed("", 0), empty: true},
		"a shoot without machines": {raw: packed(`{}`, 0), empty: true},
		"machines":                 {raw: packed(full, 0)},
		"invalid JSON":             {raw: []byte(`[`), problem: "reading the machines to be restored"},
		"not gzip":                 {raw: []byte(`{"state":"bm90IHBhY2tlZA=="}`), problem: "unpacking the machines to be restored"},
		"truncated gzip":           {raw: packed(full, 4), problem: "unpacking the machines to be restored"},
		"packed invalid JSON":      {raw: packed("something else", 0), problem: "decoding the machines to be restored"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := &extensionsv1alpha1.Worker{}
			if test.raw != nil {
				w.Status.State = &runtime.RawExtension{Raw: test.raw}
			}
			state, err := savedMachines(w)
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.empty, state.isEmpty())
			if !test.empty {
				one := state.MachineDeployments["one"]
				assert.Equal(t, int32(2), one.Replicas)
				assert.Equal(t, []string{"a", "b"}, one.classes())
				assert.Equal(t, "n", one.Machines[0].Labels["node"])
			}
		})
	}
}

func newFakeClient(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, machinev1alpha1.AddToScheme, extensionsv1alpha1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func TestRestartManager(t *testing.T) {
	pod := func(name, role string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: name, Labels: map[string]string{"role": role}}}
	}
	stuckDeployment := machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
		Name: "stuck", Finalizers: []string{machinestatus.FinalizerManager}, CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour)),
	}}
	isStuck := machinestatus.Observed{Deployments: []machinev1alpha1.MachineDeployment{stuckDeployment}, At: time.Now()}
	for sentence, test := range map[string]struct {
		now        machinestatus.Observed
		hibernated bool
		restarted  bool
		left       []string
	}{
		"stuck":            {now: isStuck, left: []string{"other"}},
		"nothing to do":    {left: []string{"manager", "other"}},
		"restarted before": {now: isStuck, restarted: true, left: []string{"manager", "other"}},
		"hibernated":       {now: isStuck, hibernated: true, left: []string{"manager", "other"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := &reconcileFlow{
				store: store{client: newFakeClient(t, pod("manager", roleManager), pod("other", "other")), namespace: "shoot--dev--one"},
				rec:   &reconciliation{Log: logr.Discard()}, hibernated: test.hibernated, managerRestarted: test.restarted,
			}
			require.NoError(t, r.restartManager(t.Context(), test.now))
			var left corev1.PodList
			require.NoError(t, r.client.List(t.Context(), &left))
			assert.Equal(t, test.left, namesOf(left.Items))
		})
	}
}

func TestReadUserData(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "init"}, Data: map[string][]byte{"script": []byte("x"), "none": {}},
	}
	c := newFakeClient(t, secret)
	read := func(name, key string) ([]byte, error) {
		return readUserData(t.Context(), c, "shoot--dev--one", &extensionsv1alpha1.WorkerPool{Name: "cpu", UserDataSecretRef: corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key,
		}})
	}
	userData, err := read("init", "script")
	require.NoError(t, err)
	assert.Equal(t, []byte("x"), userData)
	_, err = read("missing", "script")
	require.ErrorContains(t, err, `reading the user data of pool "cpu" from the Secret shoot--dev--one/missing`)
	for _, key := range []string{"none", "other"} {
		_, err = read("init", key)
		require.ErrorContains(t, err, `has no user data for pool "cpu"`)
	}
}

func TestPodRangesOf(t *testing.T) {
	shoot := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Networking: &gardencorev1beta1.Networking{Pods: new("100.96.0.0/11")}}}
	assert.Equal(t, []string{"100.96.0.0/11"}, podRangesOf(shoot))
	shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Pods: []string{"2001:db8::/48", "100.64.0.0/11"}}
	assert.Equal(t, []string{"100.64.0.0/11", "2001:db8::/48"}, podRangesOf(shoot), "the status takes precedence, and IPv4 is first")
	assert.Empty(t, podRangesOf(&gardencorev1beta1.Shoot{}))
}

func TestNearest(t *testing.T) {
	wanted := newPlan().deployments(t)
	assert.Equal(t, "shoot--dev--one-cpu-z2", nearest(wanted, "shoot--dev--one-cpu-z2-00000").name())
	assert.Equal(t, "shoot--dev--one-cpu-z1", nearest(wanted, "shoot--dev--one-gone-z1-00000").name())
	renamed := wanted[0].classUnder("other")
	assert.Equal(t, "other", renamed.class.SecretRef.Name)
	assert.Equal(t, "other", renamed.secret.Name)
	assert.NotEqual(t, "other", wanted[0].class.SecretRef.Name)
}
