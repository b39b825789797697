package contracttest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// ResourceManager simulates the two gardener-resource-managers of one shoot's namespace: that of the seed, for
// ManagedResources of the class "seed", and that of the shoot, for those without a class and for Secrets that request tokens.
// It acts in the same order as the real one, and tracks objects instead of creating them.
type ResourceManager struct {
	// GoneBefore, if not nil, names the ManagedResources whose objects must be gone before those of another one are deleted.
	GoneBefore func(name string) []string
	// BeforeReport, if not nil, is called when the objects of a ManagedResource are applied and its status does not list them yet.
	BeforeReport func(name string)

	client      client.Client
	namespace   string
	seed, shoot *ObjectTracker

	// reconciling serializes actions.
	reconciling sync.Mutex

	mutex      sync.Mutex
	hibernated bool
	stopped    bool
	rollingOut bool
	rejected   map[Key]string
	blocked    map[Key]string
	violations []string
}

// NewResourceManager returns one for a namespace. The seed is empty; shoot has the objects of the shoot.
func NewResourceManager(server *APIServer, namespace string, shoot *ObjectTracker) *ResourceManager {
	return &ResourceManager{
		client: server.Client, namespace: namespace, seed: NewObjectTracker(), shoot: shoot, rejected: map[Key]string{}, blocked: map[Key]string{},
	}
}

// Seed has the objects that were created in the seed.
func (m *ResourceManager) Seed() *ObjectTracker { return m.seed }

// Shoot has the objects that were created in the shoot.
func (m *ResourceManager) Shoot() *ObjectTracker { return m.shoot }

// SetHibernated stops or starts the shoot's, as gardenlet does before and after hibernation.
func (m *ResourceManager) SetHibernated(hibernated bool) { m.set(func() { m.hibernated = hibernated }) }

// Stop stops both.
func (m *ResourceManager) Stop() { m.set(func() { m.stopped = true }) }

// Start starts both again.
func (m *ResourceManager) Start() { m.set(func() { m.stopped = false }) }

// SetRollingOut sets whether pods in the seed are still being rolled out.
func (m *ResourceManager) SetRollingOut(rollingOut bool) { m.set(func() { m.rollingOut = rollingOut }) }

// Reject makes the API server of the object's cluster reject it with a message; an empty message ends that.
func (m *ResourceManager) Reject(kind, name, message string) {
	m.set(func() { m.rejected[Key{Kind: kind, Name: name}] = message })
}

// BlockDeletion prevents the deletion of an object from completing, with a message that gives the reason; an empty message ends that.
func (m *ResourceManager) BlockDeletion(kind, name, message string) {
	m.set(func() { m.blocked[Key{Kind: kind, Name: name}] = message })
}

// Violations are sentences about states with which the real ones could not have worked.
func (m *ResourceManager) Violations() []string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.violations)
}

func (m *ResourceManager) set(change func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change()
}

func (m *ResourceManager) addViolationf(format string, args ...any) {
	m.set(func() { m.violations = append(m.violations, fmt.Sprintf(format, args...)) })
}

// Run reconciles everything periodically until ctx ends, with a delay as the real ones have.
func (m *ResourceManager) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Millisecond):
			if err := m.ReconcileAll(ctx); err != nil && ctx.Err() == nil {
				m.addViolationf("the resource manager failed: %s", err)
			}
		}
	}
}

// OnWrite reconciles the object of a write at once (see Host).
func (m *ResourceManager) OnWrite(call Call) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	kind, name, _ := strings.Cut(strings.TrimPrefix(call.Path, "/"), "/")
	switch {
	case kind == "managedresources":
		err = m.Reconcile(ctx, name)
	case kind == "secrets" && call.Method == http.MethodDelete && strings.Contains(name, "extension-"):
		err = m.checkReferencedSecrets(ctx)
	case kind == "secrets" && call.Method == http.MethodPost && strings.HasPrefix(name, "shoot-access-"):
		err = m.requestToken(ctx, name)
	}
	if err != nil {
		m.addViolationf("the resource manager failed after %s: %s", call, err)
	}
}

// ReconcileAll reconciles everything.
func (m *ResourceManager) ReconcileAll(ctx context.Context) error {
	list := &resourcesv1alpha1.ManagedResourceList{}
	if err := m.client.List(ctx, list, client.InNamespace(m.namespace)); err != nil {
		return fmt.Errorf("listing ManagedResources: %w", err)
	}
	for _, resource := range list.Items {
		if err := m.Reconcile(ctx, resource.Name); err != nil {
			return err
		}
	}
	return m.requestTokens(ctx)
}

// Reconcile reconciles one ManagedResource.
func (m *ResourceManager) Reconcile(ctx context.Context, name string) error {
	m.reconciling.Lock()
	defer m.reconciling.Unlock()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		resource := &resourcesv1alpha1.ManagedResource{}
		if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: name}, resource); err != nil {
			return err
		}
		switch {
		case !m.isActiveFor(resource):
			return nil
		case !resource.DeletionTimestamp.IsZero():
			return m.deleteResource(ctx, resource)
		default:
			return m.apply(ctx, resource)
		}
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("serving ManagedResource %s: %w", name, err)
	}
	return nil
}

func (m *ResourceManager) isActiveFor(resource *resourcesv1alpha1.ManagedResource) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return !m.stopped && (IsOfSeed(resource) || !m.hibernated)
}

// IsOfSeed reports whether the objects of a ManagedResource are in the seed.
func IsOfSeed(resource *resourcesv1alpha1.ManagedResource) bool {
	return resource.Spec.Class != nil && *resource.Spec.Class == v1beta1constants.SeedResourceManagerClass
}

func (m *ResourceManager) trackerFor(resource *resourcesv1alpha1.ManagedResource) *ObjectTracker {
	if IsOfSeed(resource) {
		return m.seed
	}
	return m.shoot
}

func finalizerOf(resource *resourcesv1alpha1.ManagedResource) string {
	const finalizer = "resources.gardener.cloud/gardener-resource-manager"
	if IsOfSeed(resource) {
		return finalizer + "-" + v1beta1constants.SeedResourceManagerClass
	}
	return finalizer
}

// apply applies the objects of a ManagedResource: first it deletes those that are not wanted any more, then it applies the others.
func (m *ResourceManager) apply(ctx context.Context, resource *resourcesv1alpha1.ManagedResource) error {
	if controllerutil.AddFinalizer(resource, finalizerOf(resource)) {
		if err := m.client.Update(ctx, resource); err != nil {
			return err
		}
	}
	before := resource.DeepCopy()
	wanted, err := m.readObjects(ctx, resource)
	switch {
	case apierrors.IsConflict(err):
		return err
	case err != nil:
		m.addViolationf("%s", err)
		setCondition(resource, resourcesv1alpha1.ResourcesApplied, false, "CannotReadSecret", err.Error())
	default:
		if err := m.reportProgressing(ctx, resource, wanted); err != nil {
			return err
		}
		m.applyObjects(resource, wanted)
		if m.BeforeReport != nil {
			m.BeforeReport(resource.Name)
		}
	}
	if equality.Semantic.DeepEqual(before.Status, resource.Status) {
		return nil
	}
	return m.client.Status().Update(ctx, resource)
}

// deleteResource deletes the objects of a ManagedResource, unless they are to be kept, and removes its finalizer.
func (m *ResourceManager) deleteResource(ctx context.Context, resource *resourcesv1alpha1.ManagedResource) error {
	if !controllerutil.ContainsFinalizer(resource, finalizerOf(resource)) {
		return nil
	}
	if keep := resource.Spec.KeepObjects; keep == nil || !*keep {
		if err := m.checkDeletionOrder(ctx, resource); err != nil {
			return err
		}
		if message := m.deleteObjects(resource); message != "" {
			return m.reportDeletionPending(ctx, resource, message)
		}
	}
	controllerutil.RemoveFinalizer(resource, finalizerOf(resource))
	return m.client.Update(ctx, resource)
}

func (m *ResourceManager) deleteObjects(resource *resourcesv1alpha1.ManagedResource) (pending string) {
	for _, ref := range resource.Status.Resources {
		if message := m.message(m.blocked, keyOfReference(ref)); message != "" {
			pending = message
			continue
		}
		m.trackerFor(resource).deleteUnlessKept(keyOfReference(ref))
	}
	return pending
}

// message returns a message by kind and name.
func (m *ResourceManager) message(messages map[Key]string, key Key) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return messages[Key{Kind: key.Kind, Name: key.Name}]
}
