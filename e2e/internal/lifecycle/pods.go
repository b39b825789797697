package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// podRecord knows which program a pod runs, and in which seed, by its address, and when programs have started.
type podRecord struct {
	lock   sync.Mutex
	places map[string]place     // by address
	starts map[string]podStarts // by UID
	stops  []context.CancelFunc
}

// place is where a pod's address belongs to.
type place struct{ seed, program string }

// podStarts are the starts of a pod's program.
type podStarts struct {
	program string
	times   []time.Time
}

func newPodRecord() *podRecord {
	return &podRecord{places: map[string]place{}, starts: map[string]podStarts{}}
}

// programOf names the program of a pod: the container that calls the cloud, or the first.
func programOf(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if slices.Contains([]string{openstack.InfrastructureController, openstack.ControlPlaneController, openstack.WorkerController, openstack.MachineController}, container.Name) {
			return container.Name
		}
	}
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	return pod.Spec.Containers[0].Name
}

// watch records the pods of a seed until stop.
func (p *podRecord) watch(ctx context.Context, seed string, config *rest.Config) error {
	c, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	record := func(object any) {
		if pod, is := object.(*corev1.Pod); is {
			p.add(seed, pod)
		}
	}
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: record, UpdateFunc: func(_, object any) { record(object) },
	}); err != nil {
		return fmt.Errorf("preparing to record pods: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stops = append(p.stops, stop)
	factory.Start(run.Done())
	return nil
}

func (p *podRecord) add(seed string, pod *corev1.Pod) {
	p.lock.Lock()
	defer p.lock.Unlock()
	program := programOf(pod)
	if pod.Status.PodIP != "" {
		p.places[pod.Status.PodIP] = place{seed: seed, program: program}
	}
	known := p.starts[string(pod.UID)]
	known.program = program
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != program || status.State.Running == nil {
			continue
		}
		if at := status.State.Running.StartedAt.Time; !slices.ContainsFunc(known.times, at.Equal) {
			known.times = append(known.times, at)
		}
	}
	p.starts[string(pod.UID)] = known
}

// at returns the program and the seed of an address, empty if it is no pod's.
func (p *podRecord) at(address string) place {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.places[address]
}

// started counts the starts of programs in a time.
func (p *podRecord) started(from, to time.Time) map[string]int {
	p.lock.Lock()
	defer p.lock.Unlock()
	counts := map[string]int{}
	for _, pod := range p.starts {
		for _, at := range pod.times {
			if !at.Before(from) && at.Before(to) {
				counts[pod.program]++
			}
		}
	}
	return counts
}

func (p *podRecord) stop() {
	for _, stop := range p.stops {
		stop()
	}
}
