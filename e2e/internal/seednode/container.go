package seednode

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// container is a container of a pod. Without a program it is reported as running.
type container struct {
	pod        *pod
	spec       *corev1.Container
	program    string // on this machine
	root       string // its file system
	hasStarted chan struct{}

	lock     sync.Mutex
	state    corev1.ContainerState
	last     corev1.ContainerState
	restarts int32
	started  bool // passed its startup probe
	ready    bool
}

func newContainer(p *pod, spec *corev1.Container) *container {
	program, known := p.node.Programs(spec.Image, spec.Name)
	if !known {
		program = ""
	}
	return &container{pod: p, spec: spec, program: program, root: filepath.Join(p.dir, "roots", spec.Name), hasStarted: make(chan struct{})}
}

func (c *container) isSidecar() bool {
	return c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// path is where the program is in the container's file system.
func (c *container) path() string {
	if len(c.spec.Command) > 0 && path.IsAbs(c.spec.Command[0]) {
		return path.Clean(c.spec.Command[0])
	}
	name := filepath.Base(c.program)
	if len(c.spec.Command) > 0 {
		name = c.spec.Command[0]
	}
	return "/usr/local/bin/" + name
}

// run runs the container until ctx ends, or until it ends and its restart policy says that this is its end. It returns the last exit code.
func (c *container) run(ctx context.Context, policy corev1.RestartPolicy) int {
	if c.program == "" {
		c.pod.node.standIns.add(c.spec)
		<-ctx.Done()
		return 0
	}
	var delays backoff
	for {
		begin := time.Now()
		code, started := c.runOnce(ctx)
		if !started {
			if !sleep(ctx, startInterval) {
				return code
			}
			continue
		}
		if ctx.Err() != nil || policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure && code == 0 {
			return code
		}
		delay := delays.next(time.Since(begin))
		c.wait("CrashLoopBackOff", fmt.Sprintf("it is started again in %s", delay))
		if !sleep(ctx, delay) {
			return code
		}
	}
}

// startInterval is how often a container is tried to be started that needs something, such as a Secret for its variables.
const startInterval = time.Second

// backoff delays restarts.
type backoff struct{ delay time.Duration }

const (
	maxDelay = 30 * time.Second
	// stable is how long a container must run for its next restart to be without delay.
	stable = time.Minute
)

// next returns the delay of the restart of a container that has run for a time.
func (b *backoff) next(ran time.Duration) time.Duration {
	if ran >= stable {
		b.delay = 0
	}
	delay := b.delay
	b.delay = min(max(2*b.delay, time.Second), maxDelay)
	return delay
}

// runOnce starts the process and waits for its end.
func (c *container) runOnce(ctx context.Context) (code int, started bool) {
	p, err := c.start(ctx)
	if err != nil {
		if c.wait("CreateContainerError", err.Error()) && ctx.Err() == nil {
			c.pod.logf("Starting container %s failed: %v", c.spec.Name, err)
		}
		return -1, false
	}
	c.pod.logf("Started container %s at %s, pid %d", c.spec.Name, c.pod.address, p.PID())
	c.change(func() {
		if c.last != (corev1.ContainerState{}) {
			c.restarts++
		}
		c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		c.started, c.ready = false, false
	})
	probing, stopProbes := context.WithCancel(ctx)
	unhealthy := make(chan struct{})
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(probing, unhealthy) })
	select {
	case <-p.Exited():
	case <-unhealthy:
		c.end(p)
	case <-ctx.Done():
		c.end(p)
	}
	stopProbes()
	probes.Wait()
	p.KillGroup()
	c.terminated(p.ExitCode())
	return p.ExitCode(), true
}

// end sends SIGTERM, and SIGKILL after the grace period.
func (c *container) end(p *process.Process) {
	ctx, cancel := c.pod.terminate()
	defer cancel()
	p.End(ctx)
}

// start starts the process. Its environment is read anew, as after each restart of a container.
func (c *container) start(ctx context.Context) (*process.Process, error) {
	environment, args, err := c.commandLine(ctx)
	if err != nil {
		return nil, err
	}
	output := filepath.Join(filepath.Dir(c.pod.dir), c.spec.Name+".log")
	return c.pod.sandbox.start(c.root, c.path(), args, environment.List(), output)
}

// commandLine returns the container's environment and arguments.
func (c *container) commandLine(ctx context.Context) (*kubelet.Environment, []string, error) {
	api := &corev1.Service{}
	if err := c.pod.node.client.Get(ctx, apiService(), api); err != nil {
		return nil, nil, fmt.Errorf("reading the Service of the API server: %w", err)
	}
	environment := &kubelet.Environment{}
	environment.Set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	environment.Set("HOME", "/root")
	environment.Set("HOSTNAME", c.pod.object.Name)
	environment.Set("KUBERNETES_SERVICE_HOST", api.Spec.ClusterIP)
	environment.Set("KUBERNETES_SERVICE_PORT", "443")
	environment.Set("KUBERNETES_SERVICE_PORT_HTTPS", "443")
	view := c.pod.view()
	if err := environment.Add(ctx, view, c.spec); err != nil {
		return nil, nil, err
	}
	args := c.spec.Args
	if len(c.spec.Command) > 1 {
		args = append(append([]string{}, c.spec.Command[1:]...), args...)
	}
	if c.pod.node.Overrides != nil {
		others, variables := c.pod.node.Overrides(view.Pod, c.spec.DeepCopy())
		if others != nil {
			args = others
		}
		if err := environment.Add(ctx, view, &corev1.Container{Name: c.spec.Name, Env: variables}); err != nil {
			return nil, nil, err
		}
	}
	return environment, environment.Expand(args...), nil
}

// apiService names the Service of the API server.
func apiService() client.ObjectKey {
	return client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
}

// change changes the status.
func (c *container) change(do func()) {
	c.lock.Lock()
	do()
	c.lock.Unlock()
	c.pod.changed()
}

// wait reports what the container waits for, and whether that is new.
func (c *container) wait(reason, message string) (isNew bool) {
	waiting := &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	c.change(func() {
		isNew = c.state.Waiting == nil || *c.state.Waiting != *waiting
		c.state, c.ready = corev1.ContainerState{Waiting: waiting}, false
	})
	return isNew
}

func (c *container) terminated(code int) {
	c.pod.logf("Container %s ended with exit code %d", c.spec.Name, code)
	c.change(func() {
		ended := &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: "Completed", FinishedAt: metav1.Now()}
		if code != 0 {
			ended.Reason = "Error"
		}
		if c.state.Running != nil {
			ended.StartedAt = c.state.Running.StartedAt
		}
		c.state = corev1.ContainerState{Terminated: ended}
		c.last, c.ready, c.started = c.state, false, false
	})
}

// status is the container's status. Before its start, it waits for something.
func (c *container) status(waiting string, since metav1.Time) corev1.ContainerStatus {
	if c.program == "" {
		return kubelet.Running(c.spec, since, true)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	status := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, State: c.state, LastTerminationState: c.last,
		RestartCount: c.restarts, Ready: c.ready, Started: new(c.started),
	}
	if c.state == (corev1.ContainerState{}) {
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: waiting}
	}
	return status
}

// initStatus is the status of an init container: one without a program has ended, and one that has ended well is ready.
func (c *container) initStatus(waiting string, since metav1.Time) corev1.ContainerStatus {
	status := c.status(waiting, since)
	if c.isSidecar() {
		return status
	}
	if c.program == "" {
		status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: since, FinishedAt: since}}
	}
	status.Ready = status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
	return status
}

// prepare creates the container's file system: all mount points, and files that images have.
func (c *container) prepare() error {
	for _, dir := range []string{"dev", "proc", "root", "etc/ssl/certs"} {
		if err := os.MkdirAll(filepath.Join(c.root, dir), 0o755); err != nil {
			return err
		}
	}
	tmp := filepath.Join(c.root, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(tmp, os.ModeSticky|0o777); err != nil {
		return err
	}
	const authorities = "etc/ssl/certs/ca-certificates.crt"
	files := map[string][]byte{
		"etc/passwd": []byte("root:x:0:0:root:/root:/sbin/nologin\n"),
		// There is no DNS: unknown names fail at once.
		"etc/nsswitch.conf": []byte("hosts: files\n"),
	}
	if content, err := os.ReadFile("/" + authorities); err == nil {
		files[authorities] = content
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(c.root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
