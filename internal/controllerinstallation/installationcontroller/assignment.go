package installationcontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// assignment is the revision that an installation should have, and the reason if there is none.
type assignment struct {
	// relation is the relation of the installation's deployment to the operator. Unless it is Ours, no other field is set.
	relation state.Relation
	// config is the deployment's configuration, with defaults; nil if it is invalid.
	config *installationv1alpha1.ControllerDeploymentConfig
	// revision is empty while none is assigned.
	revision string
	// isOnTrial reports whether the revision is a candidate.
	isOnTrial bool
	// wave is the wave of the installation, empty without waves.
	wave string
	// problem is the problem of the deployment's present content. revision may be an earlier one that is good.
	problem *problem.Problem
	// waiting is a transient error that prevents the operator from reading the deployment's present content.
	waiting error
	// note is a sentence about a newer revision that the installation does not get; empty without one.
	note string
}

// errUndecided is returned while the state of the installation's deployment is not known yet, usually for less than a second.
var errUndecided = errors.New("nothing is known of the ControllerDeployment yet")

// assigner returns the assignments of installations.
type assigner interface {
	// assign fails with transient errors only.
	assign(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error)
	// loadRevision returns the content of an assigned revision.
	loadRevision(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, revision string) (*loadedRevision, error)
}

// loadedRevision is a revision with its loaded content.
type loadedRevision struct {
	content *revision.Content
}

func newLoadedRevision(content *revision.Content) (*loadedRevision, error) {
	if _, err := chart.Load(content.Chart); err != nil {
		return nil, err
	}
	return &loadedRevision{content: content}, nil
}

// maxLoadedRevisions is how many revisions are cached: enough for two revisions of each deployment of a usual landscape.
const maxLoadedRevisions = 32

// latestAssigner is the assigner of an operator in a seed: it assigns the deployment's present content. Such an operator cannot watch deployments,
// only get them, and sees in the installation's reference, which gardener-controller-manager updates, that a deployment has changed.
type latestAssigner struct {
	garden client.Reader
	charts registered.Charts

	mutex  sync.Mutex
	cached map[string]*cachedDeployment // by the name of the deployment
}

// cachedDeployment is the content of one version of a deployment.
type cachedDeployment struct {
	mutex      sync.Mutex // held while the content is read; a registry that does not respond does not delay other deployments
	version    string
	assignment assignment
	loaded     *loadedRevision
}

var _ assigner = (*latestAssigner)(nil)

func newLatestAssigner(garden client.Reader, charts registered.Charts) *latestAssigner {
	return &latestAssigner{garden: garden, charts: charts, cached: map[string]*cachedDeployment{}}
}

func (n *latestAssigner) assign(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error) {
	result, _, err := n.lookup(ctx, installation)
	return result, err
}

func (n *latestAssigner) loadRevision(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string) (*loadedRevision, error) {
	result, loaded, err := n.lookup(ctx, installation)
	if err != nil {
		return nil, err
	}
	if loaded == nil || result.revision != name {
		return nil, errUndecided // it has changed since the reference was written
	}
	return loaded, nil
}

func (n *latestAssigner) lookup(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, *loadedRevision, error) {
	ref := installation.Spec.DeploymentRef
	if ref == nil {
		return &assignment{}, nil, nil
	}
	entry := n.entry(ref.Name)
	entry.mutex.Lock()
	defer entry.mutex.Unlock()
	if entry.version == "" || entry.version != ref.ResourceVersion {
		if err := n.refresh(ctx, ref.Name, entry); err != nil {
			return nil, nil, err
		}
	}
	result := entry.assignment
	return &result, entry.loaded, nil
}

func (n *latestAssigner) entry(deployment string) *cachedDeployment {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.cached[deployment] == nil {
		n.cached[deployment] = &cachedDeployment{}
	}
	return n.cached[deployment]
}

// refresh reads the content of a deployment, unless that version is cached.
func (n *latestAssigner) refresh(ctx context.Context, name string, entry *cachedDeployment) error {
	deployment := &gardencorev1.ControllerDeployment{}
	err := n.garden.Get(ctx, client.ObjectKey{Name: name}, deployment)
	switch {
	case apierrors.IsNotFound(err):
		entry.version, entry.loaded, entry.assignment = "", nil, assignment{relation: state.NotFound}
		return nil
	case err != nil:
		return fmt.Errorf("reading ControllerDeployment %s: %w", name, err)
	case entry.version == deployment.ResourceVersion:
		return nil
	}
	entry.version = deployment.ResourceVersion
	if !registered.IsOurs(deployment) {
		entry.loaded, entry.assignment = nil, assignment{}
		return nil
	}
	n.evaluate(ctx, deployment, entry)
	return nil
}

// evaluate keeps the former revision while the present content is invalid, so that the installation is still reconciled.
func (n *latestAssigner) evaluate(ctx context.Context, deployment *gardencorev1.ControllerDeployment, entry *cachedDeployment) {
	config, err := registered.ConfigOf(deployment)
	entry.assignment = assignment{relation: state.Ours, config: config, revision: entry.assignment.revision}
	var loaded *loadedRevision
	var name string
	if err == nil {
		loaded, name, err = n.loadRevisionOf(ctx, deployment, config)
		config.Chart = nil // it is large, and in the revision as well
	}
	if err == nil {
		entry.loaded, entry.assignment.revision = loaded, name
		return
	}
	entry.version = "" // to be read again: the cause may be corrected in another object
	var isProblem bool
	if entry.assignment.problem, isProblem = problem.In(err); !isProblem {
		entry.assignment.waiting = err
	}
}

func (n *latestAssigner) loadRevisionOf(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig,
) (*loadedRevision, string, error) {
	content, err := n.charts.Content(ctx, deployment, config)
	if err != nil {
		return nil, "", err
	}
	name, err := content.Name()
	if err != nil {
		return nil, "", err
	}
	loaded, err := newLoadedRevision(content)
	return loaded, name, err
}

// rolloutAssigner is the assigner of an operator that gates rollouts: it reads the assigned revision from the installation's annotation, and the
// state of the deployment from the store, where package rolloutcontroller publishes it.
type rolloutAssigner struct {
	state           *state.Store
	revisions       revision.Store
	loadedRevisions *lru.Cache
}

func newRolloutAssigner(store *state.Store, revisions revision.Store) *rolloutAssigner {
	return &rolloutAssigner{state: store, revisions: revisions, loadedRevisions: lru.New(maxLoadedRevisions)}
}

var _ assigner = (*rolloutAssigner)(nil)

func (d *rolloutAssigner) assign(_ context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error) {
	ref := installation.Spec.DeploymentRef
	if ref == nil {
		return &assignment{}, nil
	}
	known, found := d.state.Deployment(ref.Name)
	if !found {
		return nil, errUndecided
	}
	return &assignment{
		relation:  known.Relation,
		config:    known.Config,
		revision:  installation.Annotations[installationv1alpha1.AnnotationRevision],
		isOnTrial: known.Trial != "" && known.Trial == installation.Annotations[installationv1alpha1.AnnotationRevision],
		wave:      known.Waves[installation.Name],
		problem:   known.Problem,
		waiting:   known.Waiting,
		note:      known.Note,
	}, nil
}

func (d *rolloutAssigner) loadRevision(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string) (*loadedRevision, error) {
	deployment := installation.Spec.DeploymentRef.Name
	key := deployment + "/" + name
	if cached, found := d.loadedRevisions.Get(key); found {
		if loaded, ok := cached.(*loadedRevision); ok {
			return loaded, nil
		}
	}
	content, err := d.revisions.Content(ctx, deployment, name)
	if err != nil {
		return nil, fmt.Errorf("reading revision %s of ControllerDeployment %s: %w", name, deployment, err)
	}
	loaded, err := newLoadedRevision(content)
	if err != nil {
		return nil, err
	}
	d.loadedRevisions.Add(key, loaded)
	return loaded, nil
}
