package workload

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// refresh is how often a container's files are updated. A real kubelet takes about a minute.
	refresh = time.Second
	// interval is how often missing Secrets and ConfigMaps are read.
	interval = 100 * time.Millisecond
	// gracePeriod is the time between SIGTERM and SIGKILL.
	gracePeriod = 30 * time.Second
)

// Run names a container of a Deployment, and says how to run it as a process.
type Run struct {
	// Namespace, Deployment and Container name it.
	Namespace, Deployment, Container string
	// Pod is the pod of the Deployment that the container belongs to. Without one, the container is taken from the Deployment's template.
	Pod string
	// Hostname is the host name that the process sees; default this machine's. See CanNameHosts.
	Hostname string
	// Program is the path of the program in the image. If the container has a command, the names must be equal.
	Program string
	// Flags replace or add flags, named without dashes, for what pods have for themselves and processes share, such as a listen address.
	Flags map[string]string
	// Env replace or add environment variables.
	Env map[string]string
	// Dir is a new folder for the container's files, and for its output, in the file "output".
	Dir string
}

// Container is a container that runs as a process, with exactly the arguments, environment and files of its Deployment. Mount paths are folders
// below Dir; arguments and files that contain a mount path are rewritten. Files follow their Secrets as in a pod.
type Container struct {
	*process.Process

	run    Run
	client client.Client
	cancel context.CancelFunc
	ended  chan struct{}
}

// RunContainer starts a container. Like a kubelet it waits for missing Secrets, ConfigMaps and keys.
func RunContainer(ctx context.Context, c client.Client, run Run) (*Container, error) {
	if err := os.Mkdir(run.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of container %s: %w", run.Container, err)
	}
	container := &Container{run: run, client: c}
	if err := container.start(ctx); err != nil {
		return nil, err
	}
	return container, nil
}

// Restart ends the process and starts the container with its present template.
func (c *Container) Restart(ctx context.Context) error {
	c.Stop()
	return c.start(ctx)
}

// Stop ends the process and the updates of its files.
func (c *Container) Stop() {
	if c.cancel == nil {
		return
	}
	c.cancel()
	<-c.ended
	c.cancel = nil
	ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
	defer cancel()
	c.End(ctx)
}

func (c *Container) start(ctx context.Context) error {
	pod, container, err := c.read(ctx)
	if err != nil {
		return err
	}
	root := filepath.Join(c.run.Dir, "root")
	if err := os.RemoveAll(root); err != nil {
		return fmt.Errorf("removing the files of an earlier container: %w", err)
	}
	files, err := mount(pod, container, root)
	if err != nil {
		return fmt.Errorf("mounting the files of container %s: %w", container.Name, err)
	}
	if err := files.await(ctx); err != nil {
		return fmt.Errorf("waiting for the files of container %s: %w", container.Name, err)
	}
	args, env, err := c.commandLine(ctx, pod, container, files)
	if err != nil {
		return err
	}
	program := c.run.Program
	if c.run.Hostname != "" {
		program, args = withHostname(c.run.Hostname, program, args)
	}
	c.Process, err = process.StartBare(program, args, env, filepath.Join(c.run.Dir, "output"))
	if err != nil {
		return err
	}
	care, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	c.cancel, c.ended = cancel, ended
	go func() {
		defer close(ended)
		files.keepFresh(care)
	}()
	return nil
}

// read returns the container of the pod, or of the Deployment's template.
func (c *Container) read(ctx context.Context) (*kubelet.Pod, *corev1.Container, error) {
	pod, err := c.readPod(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == c.run.Container {
			return pod, &pod.Spec.Containers[i], nil
		}
	}
	return nil, nil, fmt.Errorf("no container %s in Deployment %s", c.run.Container, c.run.Deployment)
}

func (c *Container) readPod(ctx context.Context) (*kubelet.Pod, error) {
	pod := &kubelet.Pod{Pod: &corev1.Pod{}, Reader: c.client}
	if c.run.Pod != "" {
		if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.run.Namespace, Name: c.run.Pod}, pod.Pod); err != nil {
			return nil, fmt.Errorf("reading pod %s: %w", c.run.Pod, err)
		}
		return pod, nil
	}
	deployment := &appsv1.Deployment{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.run.Namespace, Name: c.run.Deployment}, deployment); err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", c.run.Deployment, err)
	}
	pod.Namespace, pod.Spec, pod.Template = c.run.Namespace, deployment.Spec.Template.Spec, true
	return pod, nil
}

// commandLine returns the container's arguments and environment.
func (c *Container) commandLine(
	ctx context.Context, pod *kubelet.Pod, container *corev1.Container, files *mounts,
) (args, env []string, err error) {
	args = slices.Clone(container.Args)
	if len(container.Command) > 0 {
		if name := filepath.Base(container.Command[0]); name != filepath.Base(c.run.Program) {
			return nil, nil, fmt.Errorf("container %s runs %s, not %s", container.Name, name, c.run.Program)
		}
		args = slices.Concat(container.Command[1:], args)
	}
	var variables kubelet.Environment
	if err := variables.Add(ctx, pod, container); err != nil {
		return nil, nil, err
	}
	for _, variable := range variables.List() {
		env = append(env, files.relocate(variable))
	}
	args = variables.Expand(args...)
	for i, arg := range args {
		args[i] = files.relocate(arg)
	}
	for _, name := range slices.Sorted(maps.Keys(c.run.Env)) {
		env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, name+"=") })
		env = append(env, name+"="+c.run.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.run.Flags)) {
		args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--"+name+"=") })
		args = append(args, "--"+name+"="+c.run.Flags[name])
	}
	return args, env, nil
}
