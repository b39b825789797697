package controllerinstallation

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
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
)

// assignment is what an installation is to have.
type assignment struct {
	// relation is what the installation's deployment is to the operator. Unless it is ours, nothing else is said.
	relation relation
	// config is what the deployment says, with defaults; nil when that cannot be understood.
	config *installationv1alpha1.ControllerDeploymentConfig
	// revision is empty while nothing has been decided.
	revision string
	// isOnTrial is true while the revision is a candidate.
	isOnTrial bool
	// wave is the installation's, empty where there are none.
	wave string
	// problem is what is wrong with what the deployment says now. revision may be an earlier one that is good.
	problem *problem.Problem
	// waiting is what goes away by itself, and keeps the operator from knowing what the deployment asks for.
	waiting error
	// note is a sentence about a newer revision that the installation does not get; empty where there is nothing to tell.
	note string
}

// relation is what a ControllerDeployment is to the operator.
type relation int

const (
	foreign relation = iota // of another type
	gone                    // it does not exist
	ours
)

// errUndecided is for an installation about whose deployment nothing is known yet. It is a matter of moments.
var errUndecided = errors.New("nothing is known of the ControllerDeployment yet")

// assigner says what installations are to have.
type assigner interface {
	// assign fails with what goes away by itself only.
	assign(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error)
	// release returns the content of an assigned revision.
	release(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, revision string) (*release, error)
}

// release is a revision that is ready to be rendered.
type release struct {
	content *revision.Content
}

func newRelease(content *revision.Content) (*release, error) {
	if _, err := chart.Load(content.Chart); err != nil {
		return nil, err
	}
	return &release{content: content}, nil
}

// releasesKept bounds how many revisions stay in memory: enough for two revisions of each deployment that a landscape is likely to have.
const releasesKept = 32

// newest is the assigner of an operator in a seed: an installation is to have what its deployment says now. It cannot watch deployments there, only
// get them, and gardener-controller-manager tells in the installation's reference when there is something new to get.
type newest struct {
	garden client.Reader
	charts charts

	mutex sync.Mutex
	known map[string]*said // by the name of the deployment
}

// said is what a deployment of a certain version says.
type said struct {
	mutex      sync.Mutex // held while that is found out: a registry that does not answer holds up nobody else
	version    string
	assignment assignment
	release    *release
}

var _ assigner = (*newest)(nil)

func newNewest(garden client.Reader, charts charts) *newest {
	return &newest{garden: garden, charts: charts, known: map[string]*said{}}
}

func (n *newest) assign(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error) {
	result, _, err := n.of(ctx, installation)
	return result, err
}

func (n *newest) release(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string) (*release, error) {
	result, ready, err := n.of(ctx, installation)
	if err != nil {
		return nil, err
	}
	if ready == nil || result.revision != name {
		return nil, errUndecided // it has changed in between
	}
	return ready, nil
}

func (n *newest) of(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, *release, error) {
	ref := installation.Spec.DeploymentRef
	if ref == nil {
		return &assignment{}, nil, nil
	}
	now := n.said(ref.Name)
	now.mutex.Lock()
	defer now.mutex.Unlock()
	if now.version == "" || now.version != ref.ResourceVersion {
		if err := n.ask(ctx, ref.Name, now); err != nil {
			return nil, nil, err
		}
	}
	result := now.assignment
	return &result, now.release, nil
}

func (n *newest) said(deployment string) *said {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.known[deployment] == nil {
		n.known[deployment] = &said{}
	}
	return n.known[deployment]
}

// ask finds out what a deployment says, unless that is known already.
func (n *newest) ask(ctx context.Context, name string, now *said) error {
	deployment := &gardencorev1.ControllerDeployment{}
	err := n.garden.Get(ctx, client.ObjectKey{Name: name}, deployment)
	switch {
	case apierrors.IsNotFound(err):
		now.version, now.release, now.assignment = "", nil, assignment{relation: gone}
		return nil
	case err != nil:
		return fmt.Errorf("reading ControllerDeployment %s: %w", name, err)
	case now.version == deployment.ResourceVersion:
		return nil
	}
	now.version = deployment.ResourceVersion
	if !isOurs(deployment) {
		now.release, now.assignment = nil, assignment{}
		return nil
	}
	n.read(ctx, deployment, now)
	return nil
}

// read keeps the release that was said before while what is said now cannot be one: what is in the seed is looked after meanwhile.
func (n *newest) read(ctx context.Context, deployment *gardencorev1.ControllerDeployment, into *said) {
	config, err := configOf(deployment)
	into.assignment = assignment{relation: ours, config: config, revision: into.assignment.revision}
	var ready *release
	var name string
	if err == nil {
		ready, name, err = n.releaseOf(ctx, deployment, config)
		config.Chart = nil // as large as all else, and in the release
	}
	if err == nil {
		into.release, into.assignment.revision = ready, name
		return
	}
	into.version = "" // to be asked again: what is wrong may be mended elsewhere
	var isProblem bool
	if into.assignment.problem, isProblem = problem.In(err); !isProblem {
		into.assignment.waiting = err
	}
}

func (n *newest) releaseOf(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig,
) (*release, string, error) {
	content, err := n.charts.content(ctx, deployment, config)
	if err != nil {
		return nil, "", err
	}
	name, err := content.Name()
	if err != nil {
		return nil, "", err
	}
	ready, err := newRelease(content)
	return ready, name, err
}

// decided is the assigner of an operator that gates rollouts: an installation is to have what its annotation says, and what is known of its deployment
// is what the reconciler of rollouts has put on the board.
type decided struct {
	board    *board
	store    revision.Store
	releases *lru.Cache
}

func newDecided(board *board, store revision.Store) *decided {
	return &decided{board: board, store: store, releases: lru.New(releasesKept)}
}

var _ assigner = (*decided)(nil)

func (d *decided) assign(_ context.Context, installation *gardencorev1beta1.ControllerInstallation) (*assignment, error) {
	ref := installation.Spec.DeploymentRef
	if ref == nil {
		return &assignment{}, nil
	}
	notice, found := d.board.read(ref.Name)
	if !found {
		return nil, errUndecided
	}
	return &assignment{
		relation:  notice.relation,
		config:    notice.config,
		revision:  installation.Annotations[installationv1alpha1.AnnotationRevision],
		isOnTrial: notice.trial != "" && notice.trial == installation.Annotations[installationv1alpha1.AnnotationRevision],
		wave:      notice.waves[installation.Name],
		problem:   notice.problem,
		waiting:   notice.waiting,
		note:      notice.note,
	}, nil
}

func (d *decided) release(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string) (*release, error) {
	deployment := installation.Spec.DeploymentRef.Name
	key := deployment + "/" + name
	if cached, found := d.releases.Get(key); found {
		if ready, ok := cached.(*release); ok {
			return ready, nil
		}
	}
	content, err := d.store.Content(ctx, deployment, name)
	if err != nil {
		return nil, fmt.Errorf("reading revision %s of ControllerDeployment %s: %w", name, deployment, err)
	}
	ready, err := newRelease(content)
	if err != nil {
		return nil, err
	}
	d.releases.Add(key, ready)
	return ready, nil
}
