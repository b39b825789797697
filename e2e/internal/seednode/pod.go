package seednode

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

const (
	// retryInterval is how often a pod tries to start that waits for something, such as a Secret.
	retryInterval = 500 * time.Millisecond
	// refreshInterval is how often files are updated.
	refreshInterval = time.Second
)

// pod is a pod of which containers run as processes.
type pod struct {
	node    *node
	object  *corev1.Pod // as it was when it was started, with its address
	address netip.Addr
	dir     string // of files that end with the pod
	tokens  *tokens
	volumes map[string]*volume
	sandbox *sandbox
	names   *names // in /etc/hosts
	ended   chan struct{}

	initContainers, containers []*container

	lock        sync.Mutex
	quit        chan struct{}
	grace       time.Duration // between SIGTERM and SIGKILL
	stopped     bool
	current     *corev1.Pod // as it is now
	waiting     string      // what the start waits for
	initialized bool
	failed      bool // an init container has failed for good
}

func newPod(n *node, object *corev1.Pod, address netip.Addr) *pod {
	p := &pod{
		node: n, object: object.DeepCopy(), address: address, ended: make(chan struct{}), quit: make(chan struct{}),
		dir: filepath.Join(n.Dir, object.Namespace, object.Name, string(object.UID)), volumes: map[string]*volume{},
	}
	n.setAddresses(&p.object.Status, address.String())
	p.tokens = newTokens(n.client, p.object)
	for i := range p.object.Spec.InitContainers {
		p.initContainers = append(p.initContainers, newContainer(p, &p.object.Spec.InitContainers[i]))
	}
	for i := range p.object.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &p.object.Spec.Containers[i]))
	}
	return p
}

func gracePeriod(object *corev1.Pod) time.Duration {
	if object.DeletionGracePeriodSeconds == nil {
		return 30 * time.Second
	}
	return time.Duration(*object.DeletionGracePeriodSeconds) * time.Second
}

// update learns how the pod's object is now.
func (p *pod) update(object *corev1.Pod) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.current = object
}

// stop ends the pod. The first call decides between SIGTERM and SIGKILL.
func (p *pod) stop(grace time.Duration) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.stopped {
		p.stopped, p.grace = true, grace
		close(p.quit)
	}
}

// view is the pod for variables and files.
func (p *pod) view() *kubelet.Pod {
	p.lock.Lock()
	defer p.lock.Unlock()
	object := p.object.DeepCopy()
	if p.current != nil {
		object.Labels, object.Annotations = p.current.Labels, p.current.Annotations
	}
	return &kubelet.Pod{Pod: object, Reader: p.node.client, Token: p.tokens.token, Allocatable: p.node.allocatable}
}

func (p *pod) logf(format string, args ...any) {
	p.node.logf("%s/%s: %s", p.object.Namespace, p.object.Name, fmt.Sprintf(format, args...))
}

// changed makes the controller write the status.
func (p *pod) changed() { p.node.enqueue(p.object) }

// run runs the pod until it is stopped, or until its containers have ended for good.
func (p *pod) run() {
	defer p.changed()
	defer close(p.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-p.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	defer p.clean()
	if err := os.RemoveAll(p.dir); err != nil { // of an earlier node
		p.logf("Removing old files failed: %v", err)
	}
	if p.prepare(ctx) != nil {
		return
	}
	var refresh sync.WaitGroup
	defer refresh.Wait()
	refreshing, stopRefresh := context.WithCancel(context.Background())
	defer stopRefresh()
	refresh.Go(func() { p.refresh(refreshing) })

	var sidecars sync.WaitGroup
	defer sidecars.Wait()
	ctxOfSidecars, stopSidecars := context.WithCancel(ctx)
	defer stopSidecars()
	if !p.initialize(ctx, ctxOfSidecars, &sidecars) {
		return
	}
	var running sync.WaitGroup
	for _, c := range p.containers {
		running.Go(func() { c.run(ctx, p.object.Spec.RestartPolicy) })
	}
	running.Wait()
}

// prepare writes the files of all volumes and creates the namespaces. It tries until it succeeds.
func (p *pod) prepare(ctx context.Context) error {
	for {
		err := p.tryPrepare(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var message string
		if err != nil {
			message = err.Error()
		}
		if p.setWaiting(message) {
			p.logf("Waiting: %s", message)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

// setWaiting reports whether there is something new to wait for.
func (p *pod) setWaiting(message string) bool {
	p.lock.Lock()
	before := p.waiting
	p.waiting = message
	p.lock.Unlock()
	if message == before {
		return false
	}
	p.changed()
	return message != ""
}

func (p *pod) tryPrepare(ctx context.Context) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	if err := p.writeVolumes(ctx, p.view()); err != nil {
		return err
	}
	for _, c := range p.all() {
		if err := c.prepare(); err != nil {
			return fmt.Errorf("preparing container %s: %w", c.spec.Name, err)
		}
	}
	if err := p.writeHosts(); err != nil {
		return err
	}
	var err error
	p.sandbox, err = newSandbox(ctx, p)
	return err
}

// all lists the containers that have a program.
func (p *pod) all() []*container {
	var all []*container
	for _, list := range [][]*container{p.initContainers, p.containers} {
		for _, c := range list {
			if c.program != "" {
				all = append(all, c)
			}
		}
	}
	return all
}

// writeVolumes updates the files of all volumes.
func (p *pod) writeVolumes(ctx context.Context, view *kubelet.Pod) error {
	for i := range p.object.Spec.Volumes {
		spec := &p.object.Spec.Volumes[i]
		v := p.volumes[spec.Name]
		if v == nil {
			v = newVolume(spec, filepath.Join(p.dir, "volumes", spec.Name))
			p.volumes[spec.Name] = v
		}
		if err := v.update(ctx, view); err != nil {
			return err
		}
	}
	return nil
}

// refresh keeps files up to date. Like a kubelet it keeps the present files if that fails.
func (p *pod) refresh(ctx context.Context) {
	tick := time.NewTicker(refreshInterval)
	defer tick.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		view := p.view()
		view.Reader = p.node.cache
		err := errors.Join(p.writeVolumes(ctx, view), p.writeHosts())
		if err == nil || ctx.Err() != nil {
			last = ""
			continue
		}
		if err.Error() != last {
			last = err.Error()
			p.logf("Updating files failed: %v", err)
		}
	}
}

// initialize runs init containers, and starts sidecars. It reports whether the other containers may start.
func (p *pod) initialize(ctx, ctxOfSidecars context.Context, sidecars *sync.WaitGroup) bool {
	for _, c := range p.initContainers {
		switch {
		case c.program == "":
			p.node.standIns.add(c.spec)
		case c.isSidecar():
			sidecars.Go(func() { c.run(ctxOfSidecars, corev1.RestartPolicyAlways) })
			select {
			case <-c.hasStarted:
			case <-ctx.Done():
			}
		default:
			policy := p.object.Spec.RestartPolicy
			if policy == corev1.RestartPolicyAlways {
				policy = corev1.RestartPolicyOnFailure
			}
			if code := c.run(ctx, policy); code != 0 && ctx.Err() == nil {
				p.lock.Lock()
				p.failed = true
				p.lock.Unlock()
				return false
			}
		}
		if ctx.Err() != nil {
			return false
		}
	}
	p.lock.Lock()
	p.initialized = true
	p.lock.Unlock()
	p.changed()
	return true
}

// clean removes all but the output.
func (p *pod) clean() {
	if p.sandbox != nil {
		p.sandbox.close()
	}
	if err := os.RemoveAll(p.dir); err != nil {
		p.logf("Removing files failed: %v", err)
	}
	p.logf("Ended")
}

// terminate returns a context for the end of a process, which is killed when the context ends.
func (p *pod) terminate() (context.Context, context.CancelFunc) {
	p.lock.Lock()
	defer p.lock.Unlock()
	grace := p.grace
	if !p.stopped {
		grace = 30 * time.Second
		if seconds := p.object.Spec.TerminationGracePeriodSeconds; seconds != nil {
			grace = time.Duration(*seconds) * time.Second
		}
	}
	return context.WithTimeout(context.Background(), grace)
}
