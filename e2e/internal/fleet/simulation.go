package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// simulating is how many objects are simulated at the same time.
const simulating = 8

// simulation stands for gardener-resource-manager and machine-controller-manager of all shoots, with an administrator's rights. Nothing has finalizers.
type simulation struct {
	// objects is a memory of the extension objects, whose content must not be changed.
	objects client.Reader

	client client.Client
	cancel context.CancelFunc
	ended  sync.WaitGroup
	err    error
}

func startSimulation(ctx context.Context, to *rest.Config) (*simulation, error) {
	mgr, err := manager.New(to, manager.Options{
		Scheme: kubernetes.SeedScheme,
		Cache:  cache.Options{DefaultTransform: cache.TransformStripManagedFields(), DefaultUnsafeDisableDeepCopy: new(true)},
		// One process may have several, one after the other.
		Controller: config.Controller{SkipNameValidation: new(true), MaxConcurrentReconciles: simulating},
		Metrics:    metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the simulation: %w", err)
	}
	s := &simulation{objects: mgr.GetCache(), client: mgr.GetClient()}
	err = builder.ControllerManagedBy(mgr).For(&resourcesv1alpha1.ManagedResource{}).Complete(reconcile.Func(s.applyManagedResource))
	if err == nil {
		err = builder.ControllerManagedBy(mgr).For(&machinev1alpha1.MachineDeployment{}).Owns(&machinev1alpha1.MachineSet{}).Complete(reconcile.Func(s.createMachines))
	}
	if err != nil {
		return nil, fmt.Errorf("preparing the simulation: %w", err)
	}
	for _, k := range kinds() {
		if _, err := mgr.GetCache().GetInformer(ctx, k.new(), cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", k.name, err)
		}
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.ended.Go(func() { s.err = mgr.Start(ctx) })
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("starting the simulation: %w", s.stop())
	}
	return s, nil
}

func (s *simulation) stop() error {
	s.cancel()
	s.ended.Wait()
	return s.err
}

// applyManagedResource makes a ManagedResource healthy.
func (s *simulation) applyManagedResource(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	if err := s.objects.Get(ctx, request.NamespacedName, resource); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if resource.DeletionTimestamp != nil || health.CheckManagedResource(resource) == nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, s.writeStatus(ctx, resource, resourcesv1alpha1.ManagedResourceStatus{
		ObservedGeneration: resource.Generation,
		Conditions: []gardencorev1beta1.Condition{
			condition(resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue),
			condition(resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue),
			condition(resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse),
		},
	})
}

func condition(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{
		Type: kind, Status: status, Reason: "Simulated", Message: "Nothing is applied.", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}
}

// createMachines makes a MachineDeployment available, with a MachineSet of its class.
func (s *simulation) createMachines(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &machinev1alpha1.MachineDeployment{}
	set := &machinev1alpha1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	err := s.objects.Get(ctx, request.NamespacedName, deployment)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	if err != nil || deployment.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(s.client.Delete(ctx, set))
	}
	if err := s.createSet(ctx, deployment, set); err != nil {
		return reconcile.Result{}, err
	}
	want := deployment.Spec.Replicas
	have := deployment.Status
	if have.ObservedGeneration == deployment.Generation && have.AvailableReplicas == want && have.UpdatedReplicas == want && len(have.Conditions) > 0 {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, s.writeStatus(ctx, deployment, machinev1alpha1.MachineDeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: want, UpdatedReplicas: want, ReadyReplicas: want, AvailableReplicas: want,
		Conditions: []machinev1alpha1.MachineDeploymentCondition{{
			Type: machinev1alpha1.MachineDeploymentAvailable, Status: machinev1alpha1.ConditionTrue, LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}},
	})
}

// createSet creates the MachineSet of a MachineDeployment, or gives it the class of all new machines.
func (s *simulation) createSet(ctx context.Context, deployment *machinev1alpha1.MachineDeployment, set *machinev1alpha1.MachineSet) error {
	key := client.ObjectKeyFromObject(set)
	err := s.objects.Get(ctx, key, set)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err != nil:
		set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, machinev1alpha1.SchemeGroupVersion.WithKind("MachineDeployment"))}
		set.Spec = machinev1alpha1.MachineSetSpec{
			Replicas: deployment.Spec.Replicas, Selector: deployment.Spec.Selector.DeepCopy(), Template: *deployment.Spec.Template.DeepCopy(),
		}
		if err := s.client.Create(ctx, set); err != nil {
			return client.IgnoreAlreadyExists(err)
		}
	case set.Spec.Template.Spec.Class != deployment.Spec.Template.Spec.Class || set.Spec.Replicas != deployment.Spec.Replicas:
		set = set.DeepCopy()
		set.Spec.Template, set.Spec.Replicas = *deployment.Spec.Template.DeepCopy(), deployment.Spec.Replicas
		if err := s.client.Update(ctx, set); err != nil {
			return err
		}
	case set.Status.AvailableReplicas == set.Spec.Replicas && set.Status.ObservedGeneration == set.Generation:
		return nil
	}
	return s.writeStatus(ctx, set, machinev1alpha1.MachineSetStatus{
		ObservedGeneration: set.Generation, Replicas: set.Spec.Replicas, FullyLabeledReplicas: set.Spec.Replicas,
		ReadyReplicas: set.Spec.Replicas, AvailableReplicas: set.Spec.Replicas,
	})
}

// writeStatus replaces the status of an object that is shared with the memory.
func (s *simulation) writeStatus(ctx context.Context, object client.Object, status any) error {
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	target, _ := object.DeepCopyObject().(client.Object)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return client.IgnoreNotFound(s.client.Status().Patch(ctx, target, client.RawPatch("application/merge-patch+json", patch)))
}
