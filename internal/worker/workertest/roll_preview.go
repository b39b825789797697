package workertest

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/observer"
	"github.com/trellis-garden/trellis/internal/worker"
)

// ownerLabel marks the classes of this controller. Those of another extension lack it.
const ownerLabel = "worker.trellis.garden/owner"

// Previewed is a driver with its observer, and random changes of a shoot.
type Previewed struct {
	Subject
	// Observer is tested.
	Observer worker.Observer
	// Pools are the pools of the shoot. They have the names of Inputs.
	Pools func() []gardencorev1beta1.Worker
	// Change makes one random change of the shoot or the cloud profile, which the admission would accept, and says what it is.
	Change func(random *rand.Rand, shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile) string
}

// RollCounts are how many times the nodes of a pool were replaced, updated in place, or kept. Unexplained is the number of previews that did not tell which
// input had changed.
type RollCounts struct{ Replaced, InPlace, Kept, Unexplained int }

// RunRollPreview makes random changes of a shoot, several before each reconciliation. It compares the preview after the changes with what the primary then
// does to the classes of the MachineDeployments.
func RunRollPreview(t *testing.T, server *contracttest.APIServer, subject Previewed, seed uint64, rounds, changes int) RollCounts {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // it must be repeatable
	p := newPreviewedShoot(t, newTestEnvironment(t, server, subject.Subject, operationTimeout), subject)
	var counts RollCounts
	for n := range rounds {
		var what []string
		for range changes {
			what = append(what, subject.Change(random, p.shoot, p.profile))
		}
		if random.IntN(8) == 0 {
			p.removeOwnerLabels()
			what = append(what, "the classes become those of another extension")
		}
		p.writeCluster()
		before := p.classes()
		finding := p.preview()
		p.s.reconcile(p.writePools)
		rolled := p.rolled(before)
		require.Equal(t, rolled, previewedPools(finding.Message),
			"round %d of seed %d: %s\npreview: %s", n, seed, strings.Join(what, "; "), finding.Message)
		assert.Equal(t, len(rolled.replaced)+len(rolled.inPlace) == 0, finding.Healthy, finding.Message)
		counts.Replaced += len(rolled.replaced)
		counts.InPlace += len(rolled.inPlace)
		counts.Kept += len(p.shoot.Spec.Provider.Workers) - len(rolled.replaced) - len(rolled.inPlace)
		counts.Unexplained += strings.Count(finding.Message, "not known")
	}
	return counts
}

// previewedShoot is a shoot with its cloud profile in the garden, a Worker in the seed, and a primary.
type previewedShoot struct {
	t       *testing.T
	s       *harness
	subject Previewed
	shoot   *gardencorev1beta1.Shoot
	profile *gardencorev1beta1.CloudProfile
}

func newPreviewedShoot(t *testing.T, env *environment, subject Previewed) *previewedShoot {
	t.Helper()
	profile, err := encode(env.gardener.inputs.CloudProfileConfig)
	require.NoError(t, err)
	fixture := env.gardener.fixture(profile)
	p := &previewedShoot{t: t, s: newHarness(t, env, NewServers(), 1), subject: subject, shoot: fixture.Shoot(), profile: fixture.CloudProfile()}
	p.shoot.Spec.Provider.Workers = subject.Pools()
	p.writeCluster()
	p.writePools(p.s.object)
	p.s.create()
	return p
}

func (p *previewedShoot) writeCluster() {
	p.t.Helper()
	wanted, err := contracttest.NewCluster(p.s.namespace, p.shoot, p.profile, nil)
	require.NoError(p.t, err)
	cluster := &extensionsv1alpha1.Cluster{}
	require.NoError(p.t, p.s.client.Get(p.t.Context(), client.ObjectKey{Name: p.s.namespace}, cluster))
	cluster.Spec = wanted.Spec
	require.NoError(p.t, p.s.client.Update(p.t.Context(), cluster))
}

// writePools writes the shoot's pools to the Worker, as gardenlet does in a reconciliation of the shoot.
func (p *previewedShoot) writePools(object *extensionsv1alpha1.Worker) {
	object.Spec.Pools = nil
	for i := range p.shoot.Spec.Provider.Workers {
		object.Spec.Pools = append(object.Spec.Pools, withDefaults(poolOfShoot(p.shoot, &p.shoot.Spec.Provider.Workers[i])))
	}
}

func (p *previewedShoot) removeOwnerLabels() {
	p.t.Helper()
	var classes machinev1alpha1.MachineClassList
	require.NoError(p.t, p.s.client.List(p.t.Context(), &classes, client.InNamespace(p.s.namespace)))
	for i := range classes.Items {
		class := &classes.Items[i]
		patch := client.MergeFrom(class.DeepCopy())
		delete(class.Labels, ownerLabel)
		require.NoError(p.t, p.s.client.Patch(p.t.Context(), class, patch))
	}
}

// preview observes the Worker as a secondary controller does.
func (p *previewedShoot) preview() observer.Finding {
	p.t.Helper()
	object, err := p.s.Get(p.t.Context())
	require.NoError(p.t, err)
	cluster, err := contract.ReadCluster(p.t.Context(), p.s.client, p.s.namespace)
	require.NoError(p.t, err)
	result, err := worker.Observe(p.t.Context(), p.subject.Observer, observer.Input[*extensionsv1alpha1.Worker]{
		Object: object, Cluster: cluster, Reader: p.s.client, Now: time.Now(), Log: logr.Discard(),
		Wanted: observer.Names{worker.ObservationRollPreview: true},
	})
	require.NoError(p.t, err)
	finding := result.Findings[worker.ObservationRollPreview]
	require.NoError(p.t, finding.Err)
	return finding
}

// classes returns the MachineDeployments.
func (p *previewedShoot) classes() map[string]machinev1alpha1.MachineDeployment {
	p.t.Helper()
	h, violations := p.s.read(p.t.Context())
	require.Empty(p.t, violations)
	found := map[string]machinev1alpha1.MachineDeployment{}
	for _, d := range h.deployments.Items {
		found[d.Name] = d
	}
	return found
}

// rolled returns the pools with machines whose class has changed.
func (p *previewedShoot) rolled(before map[string]machinev1alpha1.MachineDeployment) rolledPools {
	p.t.Helper()
	after := p.classes()
	var pools rolledPools
	for _, pool := range p.shoot.Spec.Provider.Workers {
		isRolled := slices.ContainsFunc(slices.Collect(maps.Values(after)), func(d machinev1alpha1.MachineDeployment) bool {
			old, existed := before[d.Name]
			isOfPool := strings.HasPrefix(d.Name, shootIdentity().TechnicalID+"-"+pool.Name+"-z")
			return isOfPool && existed && old.Spec.Replicas > 0 && old.Spec.Template.Spec.Class.Name != d.Spec.Template.Spec.Class.Name
		})
		switch {
		case isRolled && pool.UpdateStrategy != nil:
			pools.inPlace = append(pools.inPlace, pool.Name)
		case isRolled:
			pools.replaced = append(pools.replaced, pool.Name)
		}
	}
	return pools
}

type rolledPools struct{ replaced, inPlace []string }

// previewedPools reads the pools in a message.
func previewedPools(message string) rolledPools {
	var pools rolledPools
	for _, match := range regexp.MustCompile(`replaces the nodes of pool ([a-z]+)`).FindAllStringSubmatch(message, -1) {
		pools.replaced = append(pools.replaced, match[1])
	}
	for _, match := range regexp.MustCompile(`updates the nodes of pool ([a-z]+) in place`).FindAllStringSubmatch(message, -1) {
		pools.inPlace = append(pools.inPlace, match[1])
	}
	return pools
}
