package worker

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

const observedNamespace = "shoot--dev--one"

// exampleObserver has the raw providerConfig of a pool as hash data.
type exampleObserver struct{}

func (exampleObserver) Foresee(*Shoot) (runtime.Object, error) { return &runtime.Unknown{}, nil }

func (exampleObserver) Machines(_ *Shoot, _ runtime.Object, p *extensionsv1alpha1.WorkerPool) (*Machines, error) {
	machines := &Machines{}
	if p.ProviderConfig != nil {
		for line := range strings.FieldsSeq(string(p.ProviderConfig.Raw)) {
			name, value, _ := strings.Cut(line, "=")
			machines.HashData, machines.HashDataNames = append(machines.HashData, value), append(machines.HashDataNames, name)
		}
	}
	machines.Classes = make([]Class, len(p.Zones))
	return machines, nil
}

// observed is a shoot with one pool that was reconciled, in plain objects. Its nodes are those of the Worker.
type observed struct {
	t        *testing.T
	now      time.Time
	shoot    *gardencorev1beta1.Shoot
	profile  *gardencorev1beta1.CloudProfile
	object   *extensionsv1alpha1.Worker
	machines []*machinev1alpha1.Machine
	// deployments and classes are those of the last reconciliation.
	deployments []*machinev1alpha1.MachineDeployment
}

func newObserved(t *testing.T, changes ...func(*observed)) *observed {
	t.Helper()
	o := &observed{
		t: t, now: time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC),
		shoot: &gardencorev1beta1.Shoot{
			Spec: gardencorev1beta1.ShootSpec{
				Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.33.4"},
				Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{{
					Name: "cpu", Zones: []string{"north-1", "north-2"}, Maximum: 2,
					Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: "gardenlinux", Version: new("1877.3.0")}},
					Volume:  &gardencorev1beta1.Volume{VolumeSize: "50Gi", Type: new("fast")},
					CRI:     &gardencorev1beta1.CRI{Name: "containerd"},
				}}},
				Maintenance: &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0100", End: "230000+0100"}},
			},
			Status: gardencorev1beta1.ShootStatus{TechnicalID: observedNamespace, UID: "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"},
		},
		profile: &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
			MachineImages: []gardencorev1beta1.MachineImage{{Name: "gardenlinux", Versions: []gardencorev1beta1.MachineImageVersion{
				{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1877.3.0"}},
			}}},
			MachineTypes: []gardencorev1beta1.MachineType{{Name: "small"}, {Name: "large"}},
			Regions: []gardencorev1beta1.Region{{Name: "north", Zones: []gardencorev1beta1.AvailabilityZone{
				{Name: "north-1"}, {Name: "north-2"}, {Name: "north-3"},
			}}},
		}},
		object: &extensionsv1alpha1.Worker{
			ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: observedNamespace},
			Spec:       extensionsv1alpha1.WorkerSpec{Region: "north"},
		},
	}
	for _, change := range changes {
		change(o)
	}
	o.reconcile()
	return o
}

// reconcile writes what gardenlet and the primary write for the shoot.
func (o *observed) reconcile() {
	o.t.Helper()
	pool := &o.shoot.Spec.Provider.Workers[0]
	p := nextPool(&extensionsv1alpha1.WorkerPool{Name: pool.Name}, pool, o.shoot)
	facts, err := factsOf(o.shoot, pool, &p)
	require.NoError(o.t, err)
	inputs, err := nodeAgentInputs(&p, facts)
	require.NoError(o.t, err)
	p.NodeAgentSecretName = new(nodeAgentSecretName(p.Name, inputs))
	if p.UpdateStrategy != nil {
		p.NodeAgentSecretName = new("gardener-node-agent-" + p.Name)
	}
	o.object.Spec.Pools = []extensionsv1alpha1.WorkerPool{p}
	o.object.Status.LastOperation = &gardencorev1beta1.LastOperation{LastUpdateTime: metav1.NewTime(o.now.Add(-time.Hour))}
	machines, err := exampleObserver{}.Machines(nil, nil, &p)
	require.NoError(o.t, err)
	names, err := classNames(observedNamespace, &p, o.shoot, machines)
	require.NoError(o.t, err)
	o.deployments = nil
	for zone, name := range names {
		d := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: observedNamespace, Name: deploymentName(observedNamespace, p.Name, zone),
		}}
		d.Spec.Replicas, d.Spec.Template.Spec.Class.Name = 1, name
		o.deployments = append(o.deployments, d)
	}
}

func (o *observed) observe(name string) observer.Finding {
	o.t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(o.t, AddToScheme(scheme))
	var objects []client.Object
	for _, d := range o.deployments {
		objects = append(objects, d)
	}
	for _, machine := range o.machines {
		objects = append(objects, machine)
	}
	result, err := Observe(context.Background(), exampleObserver{}, observer.Input[*extensionsv1alpha1.Worker]{
		Object: o.object, Cluster: &contract.Cluster{Shoot: o.shoot, CloudProfile: o.profile},
		Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Wanted: observer.Names{name: true}, Now: o.now, Log: testr.New(o.t),
	})
	require.NoError(o.t, err)
	require.Len(o.t, result.Findings, 1)
	finding := result.Findings[name]
	require.NoError(o.t, finding.Err)
	return finding
}

func (o *observed) pool() *gardencorev1beta1.Worker { return &o.shoot.Spec.Provider.Workers[0] }

func (o *observed) imageVersion() *gardencorev1beta1.ExpirableVersion {
	return &o.profile.Spec.MachineImages[0].Versions[0].ExpirableVersion
}

func expires(version *gardencorev1beta1.ExpirableVersion, at *metav1.Time) {
	version.ExpirationDate = at //nolint:staticcheck // profiles without Gardener's feature gate have it
}

func classify(version *gardencorev1beta1.ExpirableVersion, as gardencorev1beta1.VersionClassification) {
	version.Classification = &as //nolint:staticcheck // profiles without Gardener's feature gate have it
}

func TestObserve_Images(t *testing.T) {
	in := func(o *observed, days int) *metav1.Time { return new(metav1.NewTime(o.now.AddDate(0, 0, days))) }
	for sentence, tc := range map[string]struct {
		change  func(*observed)
		problem string
	}{
		"supported":                 {change: func(*observed) {}},
		"expires in 31 days":        {change: func(o *observed) { expires(o.imageVersion(), in(o, 31)) }},
		"expires in 30 days":        {change: func(o *observed) { expires(o.imageVersion(), in(o, 30)) }, problem: "expires on 2026-07-01"},
		"expired":                   {change: func(o *observed) { expires(o.imageVersion(), in(o, -1)) }, problem: "has expired on 2026-05-31"},
		"preview":                   {change: func(o *observed) { classify(o.imageVersion(), gardencorev1beta1.ClassificationPreview) }},
		"deprecated":                {change: func(o *observed) { classify(o.imageVersion(), gardencorev1beta1.ClassificationDeprecated) }, problem: "is deprecated"},
		"another version":           {change: func(o *observed) { o.imageVersion().Version = "2000.0.0" }, problem: "is not in the CloudProfile"},
		"another image":             {change: func(o *observed) { o.profile.Spec.MachineImages[0].Name = "flatcar" }, problem: "is not in the CloudProfile"},
		"expires, other image only": {change: func(o *observed) { expires(o.addImageVersion("1592.0.0"), in(o, -1)) }},
		"deprecated, expires in 60 days": {
			change: func(o *observed) {
				classify(o.imageVersion(), gardencorev1beta1.ClassificationDeprecated)
				expires(o.imageVersion(), in(o, 60))
			},
			problem: "is deprecated, and expires on 2026-07-31",
		},
		"lifecycle that expires": {
			change: func(o *observed) {
				o.imageVersion().Lifecycle = []gardencorev1beta1.LifecycleStage{
					{Classification: gardencorev1beta1.ClassificationSupported},
					{Classification: gardencorev1beta1.ClassificationDeprecated, StartTime: in(o, 5)},
					{Classification: gardencorev1beta1.ClassificationExpired, StartTime: in(o, 20)},
				}
			},
			problem: "expires on 2026-06-21",
		},
		"lifecycle that becomes deprecated": {change: func(o *observed) {
			o.imageVersion().Lifecycle = []gardencorev1beta1.LifecycleStage{
				{Classification: gardencorev1beta1.ClassificationSupported}, {Classification: gardencorev1beta1.ClassificationDeprecated, StartTime: in(o, 5)},
			}
		}},
		"lifecycle that is deprecated": {
			change: func(o *observed) {
				o.imageVersion().Lifecycle = []gardencorev1beta1.LifecycleStage{
					{Classification: gardencorev1beta1.ClassificationSupported}, {Classification: gardencorev1beta1.ClassificationDeprecated, StartTime: in(o, -5)},
				}
			},
			problem: "is deprecated",
		},
		"lifecycle that has not begun": {
			change: func(o *observed) {
				o.imageVersion().Lifecycle = []gardencorev1beta1.LifecycleStage{{Classification: gardencorev1beta1.ClassificationSupported, StartTime: in(o, 5)}}
			},
			problem: "is not available yet",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserved(t)
			tc.change(o)
			finding := o.observe(ObservationImages)
			assert.Equal(t, tc.problem == "", finding.Healthy)
			if tc.problem == "" {
				assert.Equal(t, "The CloudProfile supports the machine images of all pools.", finding.Message)
				return
			}
			assert.Equal(t, "machine image gardenlinux 1877.3.0 of pool cpu "+tc.problem+
				"; choose a supported version in spec.provider.workers[].machine.image of the Shoot, or let the maintenance update it.", finding.Message)
		})
	}
}

func (o *observed) addImageVersion(version string) *gardencorev1beta1.ExpirableVersion {
	image := &o.profile.Spec.MachineImages[0]
	image.Versions = append(image.Versions, gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version}})
	return &image.Versions[len(image.Versions)-1].ExpirableVersion
}

func TestObserve_MachineTypes(t *testing.T) {
	unavailable := func(o *observed, zone string, types ...string) {
		zones := o.profile.Spec.Regions[0].Zones
		n := slices.IndexFunc(zones, func(z gardencorev1beta1.AvailabilityZone) bool { return z.Name == zone })
		zones[n].UnavailableMachineTypes = types
	}
	for sentence, tc := range map[string]struct {
		change  func(*observed)
		problem string
	}{
		"offered":                       {change: func(*observed) {}},
		"usable":                        {change: func(o *observed) { o.profile.Spec.MachineTypes[0].Usable = new(true) }},
		"not usable":                    {change: func(o *observed) { o.profile.Spec.MachineTypes[0].Usable = new(false) }, problem: "is not usable for new pools any more"},
		"removed from the profile":      {change: func(o *observed) { o.profile.Spec.MachineTypes[0].Name = "tiny" }, problem: "is not in the CloudProfile"},
		"unavailable in a zone":         {change: func(o *observed) { unavailable(o, "north-2", "large", "small") }, problem: "is not available in zone north-2"},
		"unavailable in another zone":   {change: func(o *observed) { unavailable(o, "north-3", "small") }},
		"another type is unavailable":   {change: func(o *observed) { unavailable(o, "north-2", "large") }},
		"unavailable in another region": {change: func(o *observed) { unavailable(o, "north-2", "small"); o.profile.Spec.Regions[0].Name = "south" }},
		"unavailable in both zones of a pool": {
			change:  func(o *observed) { unavailable(o, "north-1", "small"); unavailable(o, "north-2", "small") },
			problem: "is not available in zones north-1 and north-2",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserved(t)
			tc.change(o)
			finding := o.observe(ObservationMachineTypes)
			assert.Equal(t, tc.problem == "", finding.Healthy)
			if tc.problem != "" {
				assert.Equal(t, "machine type small of pool cpu "+tc.problem+
					"; new machines of these pools may fail: add a pool with another machine type and remove these.", finding.Message)
			}
		})
	}
}

func TestObserve_Machines(t *testing.T) {
	o := newObserved(t)
	assert.Equal(t, observer.Finding{Healthy: true, Message: "All machines have healthy nodes."}, o.observe(ObservationMachines))
	machine := &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: observedNamespace, Name: "one", CreationTimestamp: metav1.NewTime(o.now.Add(-21 * time.Minute)),
	}}
	o.machines = append(o.machines, machine)
	assert.Equal(t, observer.Finding{Message: "machine one has not become a node in its creation timeout: see its Machine for the cause."},
		o.observe(ObservationMachines))
}
