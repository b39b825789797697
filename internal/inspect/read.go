package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Reader reads shoots in one seed.
type Reader struct {
	Seed dynamic.Interface
	// Clouds are by the type of the Infrastructure.
	Clouds map[string]Cloud
}

// kindOrder lists the resources of the contracts, in the order in which a shoot meets them.
func kindOrder() []string { return []string{"infrastructures", "controlplanes", "networks", "workers"} }

// Read reads the shoot with that namespace. Its error is for admins: it says what is missing.
func (r Reader) Read(ctx context.Context, namespace string, now time.Time) (Report, error) {
	labels, err := r.checkNamespace(ctx, namespace)
	if err != nil {
		return Report{}, err
	}
	report := Report{Namespace: namespace, At: now.UTC(), State: StateHealthy, Objects: []Object{}}
	for _, resource := range kindOrder() {
		objects, err := list[extensionObject](ctx, r, extensionsv1alpha1.SchemeGroupVersion.WithResource(resource), namespace)
		if apierrors.IsNotFound(err) {
			return Report{}, fmt.Errorf("the cluster has no resource %s.%s: it is no seed, or an old one", resource, extensionsv1alpha1.SchemeGroupVersion.Group)
		}
		if err != nil {
			return Report{}, err
		}
		for i := range objects {
			report.Objects = append(report.Objects, r.withResources(objectOf(&objects[i], now), &objects[i]))
		}
	}
	if len(report.Objects) == 0 && labels["gardener.cloud/role"] != "shoot" {
		return Report{}, fmt.Errorf("namespace %q has no Infrastructure, ControlPlane, Network or Worker, and no label of a shoot", namespace)
	}
	report.Unread = r.complete(ctx, namespace, report.Objects)
	for i := range report.Objects {
		report.Objects[i].State = stateOf(report.Objects[i])
		report.State = worst(report.State, report.Objects[i].State)
	}
	return report, nil
}

// withResources adds what an Infrastructure has recorded of its resources.
func (r Reader) withResources(object Object, from *extensionObject) Object {
	if from.Kind != extensionsv1alpha1.InfrastructureResource {
		return object
	}
	read := rawIDs
	if cloud := r.Clouds[from.Spec.Type]; cloud != nil {
		read = cloud.Resources
	}
	var err error
	if object.Resources, err = read(recordedOf(from)); err != nil {
		object.ResourcesError = text(err.Error())
	}
	object.Resources = printable(object.Resources)
	return object
}

// printable removes control characters from what is recorded of resources.
func printable(resources []Resource) []Resource {
	for i := range resources {
		r := &resources[i]
		for _, field := range []*string{&r.Kind, &r.Name, &r.ID, &r.Detail, &r.Note} {
			*field = text(*field)
		}
		r.Children = printable(r.Children)
	}
	return resources
}

// complete adds what the contracts have deployed, and returns the errors of the reads.
func (r Reader) complete(ctx context.Context, namespace string, objects []Object) []string {
	var unread []string
	isDeploying := func(o Object) bool { return prefixOfManagedResources(o.Kind) != "" }
	if slices.ContainsFunc(objects, isDeploying) {
		resources, err := list[resourcesv1alpha1.ManagedResource](ctx, r, resourcesv1alpha1.SchemeGroupVersion.WithResource("managedresources"), namespace)
		if err != nil {
			unread = append(unread, text(err.Error()))
		}
		for i := range objects {
			objects[i].ManagedResources = managedResourcesOf(objects[i].Kind, resources)
		}
	}
	worker := slices.IndexFunc(objects, func(o Object) bool { return o.Kind == extensionsv1alpha1.WorkerResource })
	if worker < 0 {
		return unread
	}
	deployments, err := list[machinev1alpha1.MachineDeployment](ctx, r, machinev1alpha1.SchemeGroupVersion.WithResource("machinedeployments"), namespace)
	if err != nil {
		unread = append(unread, text(err.Error()))
	}
	machines, err := list[machinev1alpha1.Machine](ctx, r, machinev1alpha1.SchemeGroupVersion.WithResource("machines"), namespace)
	if err != nil {
		unread = append(unread, text(err.Error()))
	}
	objects[worker].MachineDeployments, objects[worker].FailedMachines = machineDeploymentsOf(deployments), failedMachinesOf(machines)
	return unread
}

// list reads all objects of a resource in a namespace.
func list[T any](ctx context.Context, r Reader, resource schema.GroupVersionResource, namespace string) ([]T, error) {
	found, err := r.Seed.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
	}
	objects := make([]T, len(found.Items))
	for i := range found.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Items[i].Object, &objects[i]); err != nil {
			return nil, fmt.Errorf("reading one of %s, %q: %w", resource.Resource, found.Items[i].GetName(), err)
		}
	}
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(nameOf(&a), nameOf(&b)) })
	return objects, nil
}

func nameOf(object any) string {
	if named, ok := object.(metav1.Object); ok {
		return named.GetName()
	}
	return ""
}

// checkNamespace returns the labels of the namespace. If it does not exist, the error names those that come near.
func (r Reader) checkNamespace(ctx context.Context, namespace string) (map[string]string, error) {
	namespaces := r.Seed.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	found, err := namespaces.Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case err == nil:
		return found.GetLabels(), nil
	case apierrors.IsForbidden(err):
		return nil, nil // lists in the namespace may be allowed
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading namespace %q: %w", namespace, err)
	}
	all, err := namespaces.List(ctx, metav1.ListOptions{LabelSelector: "gardener.cloud/role=shoot"})
	if err != nil {
		return nil, fmt.Errorf("namespace %q does not exist", namespace)
	}
	return nil, errors.New(missingNamespace(namespace, namesOf(all.Items)))
}

func namesOf(objects []unstructured.Unstructured) []string {
	var names []string
	for i := range objects {
		names = append(names, objects[i].GetName())
	}
	return names
}
