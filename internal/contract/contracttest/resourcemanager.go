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

// ResourceManager stands in for the two gardener-resource-managers of one shoot's namespace: that of the seed, which serves
// ManagedResources of the class "seed", and that of the shoot, which serves those without a class and gets tokens for Secrets.
// It acts in the same order as the real one, and makes records instead of objects.
type ResourceManager struct {
	// GoneBefore, if there is one, names the ManagedResources whose objects must be gone before those of another one are deleted.
	GoneBefore func(name string) []string
	// BeforeReport, if there is one, is called when the objects of a ManagedResource have been applied and its status does not list them yet.
	BeforeReport func(name string)

	client      client.Client
	namespace   string
	seed, shoot *Record

	// serving admits one deed at a time.
	serving sync.Mutex

	mutex      sync.Mutex
	asleep     bool
	absent     bool
	rollingOut bool
	refused    map[Key]string
	stuck      map[Key]string
	complaints []string
}

// NewResourceManager returns one for a namespace. Nothing has been made in the seed yet; the shoot is as the record tells.
func NewResourceManager(server *APIServer, namespace string, shoot *Record) *ResourceManager {
	return &ResourceManager{
		client: server.Client, namespace: namespace, seed: NewRecord(), shoot: shoot, refused: map[Key]string{}, stuck: map[Key]string{},
	}
}

// Seed is what has been made in the seed.
func (m *ResourceManager) Seed() *Record { return m.seed }

// Shoot is what has been made in the shoot.
func (m *ResourceManager) Shoot() *Record { return m.shoot }

// Sleep stops or starts that of the shoot, as gardenlet does before and after hibernation.
func (m *ResourceManager) Sleep(asleep bool) { m.set(func() { m.asleep = asleep }) }

// Leave stops both.
func (m *ResourceManager) Leave() { m.set(func() { m.absent = true }) }

// Return starts both again.
func (m *ResourceManager) Return() { m.set(func() { m.absent = false }) }

// RollOut lets pods in the seed be under way to what is wanted of them, or arrive.
func (m *ResourceManager) RollOut(underWay bool) { m.set(func() { m.rollingOut = underWay }) }

// Refuse makes the API server of the object's cluster refuse it with a message; an empty one ends that.
func (m *ResourceManager) Refuse(kind, name, message string) {
	m.set(func() { m.refused[Key{Kind: kind, Name: name}] = message })
}

// Hold keeps an object from being gone after its deletion, with a message that says why; an empty one ends that.
func (m *ResourceManager) Hold(kind, name, message string) {
	m.set(func() { m.stuck[Key{Kind: kind, Name: name}] = message })
}

// Complaints are sentences about what the real ones could not have worked with.
func (m *ResourceManager) Complaints() []string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.complaints)
}

func (m *ResourceManager) set(change func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change()
}

func (m *ResourceManager) complainf(format string, args ...any) {
	m.set(func() { m.complaints = append(m.complaints, fmt.Sprintf(format, args...)) })
}

// Run acts upon everything again and again until ctx ends: a little late, as the real ones do.
func (m *ResourceManager) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Millisecond):
			if err := m.ServeAll(ctx); err != nil && ctx.Err() == nil {
				m.complainf("the resource manager failed: %s", err)
			}
		}
	}
}

// Bystander acts upon a write at once (see Host), and looks at no more than what the write is about.
func (m *ResourceManager) Bystander(call Call) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	kind, name, _ := strings.Cut(strings.TrimPrefix(call.Path, "/"), "/")
	switch {
	case kind == "managedresources":
		err = m.Serve(ctx, name)
	case kind == "secrets" && call.Method == http.MethodDelete && strings.Contains(name, "extension-"):
		err = m.missSecrets(ctx)
	case kind == "secrets" && call.Method == http.MethodPost && strings.HasPrefix(name, "shoot-access-"):
		err = m.requestToken(ctx, name)
	}
	if err != nil {
		m.complainf("the resource manager failed after %s: %s", call, err)
	}
}

// ServeAll acts upon everything that is there.
func (m *ResourceManager) ServeAll(ctx context.Context) error {
	list := &resourcesv1alpha1.ManagedResourceList{}
	if err := m.client.List(ctx, list, client.InNamespace(m.namespace)); err != nil {
		return fmt.Errorf("listing ManagedResources: %w", err)
	}
	for _, resource := range list.Items {
		if err := m.Serve(ctx, resource.Name); err != nil {
			return err
		}
	}
	return m.requestTokens(ctx)
}

// Serve acts upon one ManagedResource.
func (m *ResourceManager) Serve(ctx context.Context, name string) error {
	m.serving.Lock()
	defer m.serving.Unlock()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		resource := &resourcesv1alpha1.ManagedResource{}
		if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: name}, resource); err != nil {
			return err
		}
		switch {
		case !m.serves(resource):
			return nil
		case !resource.DeletionTimestamp.IsZero():
			return m.clean(ctx, resource)
		default:
			return m.apply(ctx, resource)
		}
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("serving ManagedResource %s: %w", name, err)
	}
	return nil
}

func (m *ResourceManager) serves(resource *resourcesv1alpha1.ManagedResource) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return !m.absent && (IsOfSeed(resource) || !m.asleep)
}

// IsOfSeed reports whether the objects of a ManagedResource are in the seed.
func IsOfSeed(resource *resourcesv1alpha1.ManagedResource) bool {
	return resource.Spec.Class != nil && *resource.Spec.Class == v1beta1constants.SeedResourceManagerClass
}

func (m *ResourceManager) recordFor(resource *resourcesv1alpha1.ManagedResource) *Record {
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

// apply makes the objects of a ManagedResource: first it deletes what is wanted no more, then it applies the others.
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
		m.complainf("%s", err)
		setCondition(resource, resourcesv1alpha1.ResourcesApplied, false, "CannotReadSecret", err.Error())
	default:
		if err := m.announce(ctx, resource, wanted); err != nil {
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

// clean deletes the objects of a ManagedResource, unless they are to be kept, and lets it go.
func (m *ResourceManager) clean(ctx context.Context, resource *resourcesv1alpha1.ManagedResource) error {
	if !controllerutil.ContainsFinalizer(resource, finalizerOf(resource)) {
		return nil
	}
	if keep := resource.Spec.KeepObjects; keep == nil || !*keep {
		if err := m.checkOrder(ctx, resource); err != nil {
			return err
		}
		if message := m.cleanObjects(resource); message != "" {
			return m.reportPending(ctx, resource, message)
		}
	}
	controllerutil.RemoveFinalizer(resource, finalizerOf(resource))
	return m.client.Update(ctx, resource)
}

func (m *ResourceManager) cleanObjects(resource *resourcesv1alpha1.ManagedResource) (pending string) {
	for _, ref := range resource.Status.Resources {
		if message := m.message(m.stuck, keyOfReference(ref)); message != "" {
			pending = message
			continue
		}
		m.recordFor(resource).take(keyOfReference(ref))
	}
	return pending
}

// message looks a message up by kind and name.
func (m *ResourceManager) message(messages map[Key]string, key Key) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return messages[Key{Kind: key.Kind, Name: key.Name}]
}
