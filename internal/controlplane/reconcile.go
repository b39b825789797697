package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// deployment is one reconciliation that deploys a control plane.
type deployment struct {
	rec         *reconciliation
	shoot       *Shoot
	plan        *Plan
	hibernation hibernationState
	previous    status
	resources   managedresource.Store
	secrets     secrets
	authority   *authority
	// ownServer is nil if the process serves no webhooks of shoots. Then the plan has none that need it.
	ownServer *WebhookServer
	renderer  *renderer
	// definitions are the CRDs of storage drivers in the shoot.
	definitions []client.Object
	// rolloutTimeout bounds the wait for pods without upstream's configuration.
	rolloutTimeout time.Duration

	// certificates and configs are set by the tasks of these names, for later tasks.
	certificates, configs map[string]string
	cleaned               bool
	messagesMutex         sync.Mutex
}

// Reconcile deploys the driver's plan. It waits until gardener-resource-manager has applied it in the seed, and for a limited time in the shoot, but not
// until pods run: conditions report that, and a failing component must not prevent the repair of the rest of the shoot. A hibernated shoot has no
// gardener-resource-manager, so there is no wait.
//
// The control plane of a shoot that is being deleted is not changed if its configuration is invalid.
func (a *actuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	shoot, plan, err := a.plan(ctx, rec)
	if err != nil && isBeingDeleted(rec) && (cloud.KindOf(err) == cloud.Configuration || errors.Is(err, ErrInfrastructureIncomplete)) {
		rec.Messages = append(rec.Messages, fmt.Sprintf("what is there stays until it is deleted, since %v", err))
		return nil
	}
	if err != nil {
		return err
	}
	d, err := a.newDeployment(ctx, rec, shoot, plan)
	if err != nil {
		return err
	}
	if err := rec.StateRecorder.Run(ctx, d.graph()); err != nil {
		return err
	}
	rec.Messages = append(rec.Messages, d.plan.Messages...)
	return d.newStatus().writeTo(rec.Object)
}

func (a *actuator) newDeployment(ctx context.Context, rec *reconciliation, shoot *Shoot, plan *Plan) (*deployment, error) {
	hibernation, err := readHibernationState(ctx, rec.Client, rec.Object.Namespace, rec.Cluster.Shoot)
	if err != nil {
		return nil, err
	}
	authority, err := newAuthority(ctx, rec)
	if err != nil {
		return nil, err
	}
	if a.ownServer == nil {
		plan = plan.withoutOwn()
	}
	return &deployment{
		ownServer: a.ownServer,
		rec:       rec, shoot: shoot, plan: plan, hibernation: hibernation, previous: statusOf(rec.Object), authority: authority,
		definitions: a.definitions, rolloutTimeout: a.rolloutTimeout,
		renderer:  newRenderer(plan, a.images[rec.Object.Spec.Type], rec.Cluster.Shoot.Spec.Kubernetes),
		resources: newStore(rec),
		secrets:   secrets{client: rec.Client, namespace: rec.Object.Namespace, owner: rec.Object.Name},
	}, nil
}

// graph are the tasks of a deployment. Seed and shoot are deployed concurrently: components in the seed wait for their permissions in the shoot.
func (d *deployment) graph() *contract.Graph {
	graph := contract.NewGraph("reconciling control plane")
	certificates := graph.Add(contract.Task{Name: "issuing certificates", Do: d.issueCertificates})
	configs := graph.Add(contract.Task{Name: "writing configuration", Do: d.writeConfigs})
	access := graph.Add(contract.Task{Name: "ensuring access to the shoot", Do: d.writeShootAccess})
	seed := graph.Add(contract.Task{
		Name: "deploying components in the seed", Do: d.deploySeed, After: []contract.TaskID{certificates, configs, access},
	})
	crds := graph.Add(contract.Task{Name: "deploying custom resource definitions in the shoot", Do: d.deployCRDs})
	shoot := graph.Add(contract.Task{Name: "deploying components in the shoot", Do: d.deployShoot})
	classes := graph.Add(contract.Task{
		Name: "deploying storage classes in the shoot", Do: d.deployStorageClasses, After: []contract.TaskID{crds},
	})
	// Upstream's extension has such webhooks among the components in the shoot: gardener-resource-manager deletes them by their names once they are left out
	// there, so they are added afterwards.
	webhooks := graph.Add(contract.Task{
		Name: "deploying webhooks in the shoot", Do: d.deployShootWebhooks, SkipIf: len(d.plan.ShootWebhooks) == 0, After: []contract.TaskID{seed, shoot},
	})
	everything := []contract.TaskID{seed, crds, shoot, classes, webhooks}
	graph.Add(contract.Task{
		Name: "removing stale conditions from nodes", Do: d.cleanNodes, SkipIf: !d.mustCleanNodes(), After: everything,
	})
	graph.Add(contract.Task{Name: "removing what upstream's extension left", Do: d.removeUpstreamResources, After: everything})
	graph.Add(contract.Task{Name: "removing access that is not needed", Do: d.removeShootAccess, After: everything})
	graph.Add(contract.Task{Name: "removing certificates that are not needed", Do: d.authority.Cleanup, After: everything})
	return graph
}

func (d *deployment) issueCertificates(ctx context.Context) (err error) {
	d.certificates, err = d.authority.issue(ctx, d.plan.Certificates)
	return err
}

func (d *deployment) writeConfigs(ctx context.Context) (err error) {
	d.configs, err = d.secrets.writeConfigs(ctx, d.plan.Configs)
	return err
}

func (d *deployment) writeShootAccess(ctx context.Context) error {
	return d.secrets.writeShootAccess(ctx, d.renderer.shootAccess())
}

func (d *deployment) removeShootAccess(ctx context.Context) error {
	return d.secrets.removeShootAccess(ctx, d.renderer.shootAccess(), d.plan.RetiredAccess)
}

func (d *deployment) deploySeed(ctx context.Context) error {
	names := maps.Clone(d.certificates)
	maps.Copy(names, d.configs)
	objects, err := d.renderer.seedObjects(component.Values{
		Namespace: d.rec.Object.Namespace, Hibernated: d.hibernation == hibernated, Secrets: names,
		GenericKubeconfig: genericKubeconfig(d.rec.Cluster),
	})
	if err != nil {
		return err
	}
	reporters, err := encodeEventReporters(d.plan.EventReporters)
	if err != nil {
		return err
	}
	resource := managedresource.Resource{Name: resourceSeed, Seed: true, Objects: objects, Annotations: map[string]string{
		annotationHibernated: "", annotationEventReporters: reporters,
	}}
	if d.hibernation == hibernated {
		resource.Annotations[annotationHibernated] = "true"
	}
	if err := d.resources.Apply(ctx, resource); err != nil {
		return err
	}
	return d.resources.WaitApplied(ctx, resource.Name)
}

// genericKubeconfig returns the name of the Secret with the generic kubeconfig of a shoot.
func genericKubeconfig(cluster *contract.Cluster) string {
	if name := cluster.Annotations[v1beta1constants.AnnotationKeyGenericTokenKubeconfigSecretName]; name != "" {
		return name
	}
	return v1beta1constants.SecretNameGenericTokenKubeconfig
}

func (d *deployment) deployCRDs(ctx context.Context) error {
	_, err := d.applyInShoot(ctx, managedresource.Resource{Name: resourceShootCRDs, Objects: slices.Concat(d.definitions, d.plan.CRDs)})
	return err
}

func (d *deployment) deployStorageClasses(ctx context.Context) error {
	_, err := d.applyInShoot(ctx, managedresource.Resource{Name: resourceStorageClasses, Objects: d.renderer.classes()})
	return err
}

// shootTimeout is how long a reconciliation waits until objects are applied in the shoot. Users' objects may prevent it, such as a webhook whose server has
// no node to run on; and nodes are created after the control plane.
const shootTimeout = time.Minute

// applyInShoot reports whether the resource is applied, or the shoot is hibernated.
func (d *deployment) applyInShoot(ctx context.Context, wanted managedresource.Resource) (bool, error) {
	if err := d.resources.Apply(ctx, wanted); err != nil || d.hibernation != awake {
		return err == nil, err
	}
	waitCtx, cancel := context.WithTimeout(ctx, shootTimeout)
	defer cancel()
	err := d.resources.WaitApplied(waitCtx, wanted.Name)
	if err != nil && waitCtx.Err() != nil && ctx.Err() == nil {
		d.addMessage(err.Error())
		return false, nil
	}
	return err == nil, err
}

// addMessage may be called by concurrent tasks.
func (d *deployment) addMessage(message string) {
	d.messagesMutex.Lock()
	defer d.messagesMutex.Unlock()
	d.rec.Messages = append(d.rec.Messages, message)
}

// mustCleanNodes reports whether the plan names stale conditions that were not removed yet, and nodes are reachable.
func (d *deployment) mustCleanNodes() bool {
	return d.hibernation == awake && !d.rec.FirstAttempt && !containsAll(d.previous.CleanedNodeConditions, d.staleNodeConditions())
}

func (d *deployment) staleNodeConditions() []string {
	var names []string
	for _, stale := range d.plan.StaleNodeConditions {
		names = append(names, stale.names()...)
	}
	return names
}

func (d *deployment) cleanNodes(ctx context.Context) error {
	if err := cleanNodes(ctx, d.rec.Client, d.rec.Object.Namespace, d.plan.StaleNodeConditions); err != nil {
		return err
	}
	d.cleaned = true
	return nil
}

// newStatus is the status for the next reconciliation. A new shoot has no nodes with stale conditions.
func (d *deployment) newStatus() status {
	next := status{Hibernating: d.hibernation == hibernating}
	stale := d.staleNodeConditions()
	if d.cleaned || d.rec.FirstAttempt || containsAll(d.previous.CleanedNodeConditions, stale) {
		next.CleanedNodeConditions = stale
	}
	return next
}

func containsAll(set, wanted []string) bool {
	present := map[string]bool{}
	for _, name := range set {
		present[name] = true
	}
	for _, name := range wanted {
		if !present[name] {
			return false
		}
	}
	return true
}
