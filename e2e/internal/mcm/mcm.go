// Package mcm runs machine-controller-manager in a seed, with its machine controller: for each pod of its Deployments both containers as
// processes, with the arguments, files and rights of the pod, and the pod's name as host name. They are stopped, restarted and scaled by way of
// the Deployment and the pods. The package must not depend on a machine class.
package mcm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// Names of the two containers. That of the machine controller ends with the provider type.
const (
	Manager = v1beta1constants.DeploymentNameMachineControllerManager
	prefix  = "machine-controller-manager-provider-"
)

// MachineController is the name of the container of the machine controller for a provider type.
func MachineController(providerType string) string { return prefix + providerType }

// interval is how often pods and processes are compared.
const interval = 200 * time.Millisecond

// timeout bounds how long a pod may wait for its files.
const timeout = 10 * time.Second

// Options configure Pods.
type Options struct {
	// Manager and MachineController are the paths of the two programs.
	Manager, MachineController string
	// Dir is an empty folder for all files.
	Dir string
	// Flags replace flags of the machine controller's pod, e.g. for shorter periods.
	Flags map[string]string
	// Env replaces environment variables of the machine controller, or adds some.
	Env map[string]string
}

// Pods runs all pods of machine-controller-manager in a seed.
type Pods struct {
	seed    *seed.Seed
	options Options
	named   bool // hosts have names
	stop    context.CancelFunc
	ended   chan struct{}

	lock     sync.Mutex
	running  map[types.UID]*pod
	started  int
	failures []error
	outputs  []string
}

// Start runs the present and future pods in a seed that hosts control planes.
func Start(ctx context.Context, s *seed.Seed, options Options) *Pods {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Pods{
		seed: s, options: options, stop: stop, ended: make(chan struct{}), running: map[types.UID]*pod{},
		named: CanRunTwice(ctx) == nil,
	}
	go p.run(run)
	return p
}

// Stop stops all processes, and returns errors that are not theirs.
func (p *Pods) Stop() error {
	p.stop()
	<-p.ended
	p.lock.Lock()
	defer p.lock.Unlock()
	p.end(func(types.UID) bool { return true })
	return errors.Join(p.failures...)
}

func (p *Pods) run(ctx context.Context) {
	defer close(p.ended)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.sync(ctx)
		}
	}
}

// sync compares pods and processes.
func (p *Pods) sync(ctx context.Context) {
	list := &corev1.PodList{}
	if err := p.seed.Client.List(ctx, list, client.MatchingLabels{v1beta1constants.LabelRole: Manager}); err != nil {
		return // until the next look
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	there := map[types.UID]bool{}
	for _, found := range list.Items {
		if found.DeletionTimestamp == nil && found.Status.Phase == corev1.PodRunning {
			there[found.UID] = true
		}
	}
	p.end(func(uid types.UID) bool { return !there[uid] })
	for _, found := range list.Items {
		if there[found.UID] && p.running[found.UID] == nil {
			p.started++
			dir := filepath.Join(p.options.Dir, fmt.Sprintf("%d-%s", p.started, found.Name))
			p.running[found.UID] = newPod(&found, dir)
		}
	}
	for _, pod := range p.running {
		if err := p.startMissing(ctx, pod); err != nil && ctx.Err() == nil {
			p.fail(err)
		}
	}
}

// startMissing starts the missing containers of a pod. Files of the pod may be created later, and the pod may be deleted meanwhile.
func (p *Pods) startMissing(ctx context.Context, pod *pod) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := pod.startMissing(ctx, p)
	if apierrors.IsNotFound(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// fail records an error, each text once, since starts are retried.
func (p *Pods) fail(err error) {
	if !slices.ContainsFunc(p.failures, func(known error) bool { return known.Error() == err.Error() }) {
		p.failures = append(p.failures, err)
	}
}

// end stops some pods concurrently.
func (p *Pods) end(which func(types.UID) bool) {
	var group sync.WaitGroup
	for uid, pod := range p.running {
		if which(uid) {
			delete(p.running, uid)
			group.Go(pod.stop)
		}
	}
	group.Wait()
}

// Kill kills a container of all pods in a namespace, and returns their number. Each is restarted, as by a kubelet.
func (p *Pods) Kill(namespace, container string) int {
	p.lock.Lock()
	defer p.lock.Unlock()
	killed := 0
	for _, pod := range p.running {
		if c := pod.containers[container]; pod.namespace == namespace && c != nil {
			c.Kill()
			killed++
		}
	}
	return killed
}

// SimulateNodeLoss kills all containers of a pod and deletes the pod without a grace period. Its Deployment creates another one.
func (p *Pods) SimulateNodeLoss(ctx context.Context, namespace, name string) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, pod := range p.running {
		if pod.namespace == namespace && pod.name == name {
			for _, c := range pod.containers {
				c.Kill()
			}
		}
	}
	lost := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if err := p.seed.Client.Delete(ctx, lost, client.GracePeriodSeconds(0)); err != nil {
		return fmt.Errorf("losing pod %s: %w", name, err)
	}
	return nil
}

// PIDs returns the process IDs of a container in a namespace.
func (p *Pods) PIDs(namespace, container string) (ids []int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, pod := range p.running {
		if c := pod.containers[container]; pod.namespace == namespace && c != nil {
			ids = append(ids, c.PID())
		}
	}
	return ids
}

// Tails returns the last lines of each process.
func (p *Pods) Tails(lines int) string {
	p.lock.Lock()
	defer p.lock.Unlock()
	var all strings.Builder
	for _, path := range p.outputs {
		fmt.Fprintf(&all, "--- %s\n%s\n", path, tail(path, lines))
	}
	return all.String()
}

// Outputs are the paths of the files with the processes' output.
func (p *Pods) Outputs() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.outputs)
}
