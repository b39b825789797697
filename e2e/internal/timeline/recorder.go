package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Recorder samples objects when they change.
type Recorder struct {
	out  io.Writer
	now  func() time.Time
	stop context.CancelFunc
	run  context.Context //nolint:containedctx // it is the life of the informers, which Watch adds to

	lock    sync.Mutex
	samples []Sample
	last    map[Object]Sample
	err     error
}

// NewRecorder returns a recorder that writes each sample to out as a line of JSON.
func NewRecorder(ctx context.Context, out io.Writer) *Recorder {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &Recorder{out: out, now: time.Now, stop: stop, run: run, last: map[Object]Sample{}}
}

// GardenResources are those of a garden that show what a landscape does.
func GardenResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		gardencorev1beta1.SchemeGroupVersion.WithResource("shoots"),
		gardencorev1beta1.SchemeGroupVersion.WithResource("controllerinstallations"),
	}
}

// SeedResources are those of a seed.
func SeedResources() []schema.GroupVersionResource {
	resources := []schema.GroupVersionResource{
		machinev1alpha1.SchemeGroupVersion.WithResource("machinedeployments"),
		machinev1alpha1.SchemeGroupVersion.WithResource("machines"),
		resourcesv1alpha1.SchemeGroupVersion.WithResource("managedresources"),
	}
	for _, name := range []string{"infrastructures", "controlplanes", "networks", "workers", "operatingsystemconfigs", "dnsrecords"} {
		resources = append(resources, extensionsv1alpha1.SchemeGroupVersion.WithResource(name))
	}
	return resources
}

// Watch records the objects of a cluster, until Stop. An API server that is away is retried.
func (r *Recorder) Watch(cluster string, config *rest.Config, resources []schema.GroupVersionResource) error {
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("preparing to record %s: %w", cluster, err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(c, 0)
	sample := func(object any) {
		if o, is := object.(*unstructured.Unstructured); is {
			r.add(newSample(cluster, o, r.now()))
		}
	}
	for _, resource := range resources {
		_, err := factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    sample,
			UpdateFunc: func(_, object any) { sample(object) },
			DeleteFunc: func(object any) {
				if unknown, is := object.(cache.DeletedFinalStateUnknown); is {
					object = unknown.Obj
				}
				if o, is := object.(*unstructured.Unstructured); is {
					gone := newSample(cluster, o, r.now())
					gone.State, gone.Description = Gone, ""
					r.add(gone)
				}
			},
		})
		if err != nil {
			return fmt.Errorf("preparing to record %s of %s: %w", resource.Resource, cluster, err)
		}
	}
	factory.Start(r.run.Done())
	return nil
}

// Stop ends the recording.
func (r *Recorder) Stop() error {
	r.stop()
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.err
}

// Samples returns all samples so far, in order.
func (r *Recorder) Samples() []Sample {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.samples)
}

func (r *Recorder) add(sample Sample) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if last, known := r.last[sample.Object]; known && sample.isLike(last) {
		return
	}
	r.last[sample.Object] = sample
	r.samples = append(r.samples, sample)
	line, err := json.Marshal(sample)
	if err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("writing what objects do: %w", err)
	}
}
